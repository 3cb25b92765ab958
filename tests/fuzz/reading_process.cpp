#include <sys/socket.h>
#include <unistd.h>

#include "assay/fixtures/descriptor.hpp"
#include "cases/consistency.hpp"
#include "foreign/wire.hpp"
#include "fuzz.hpp"

namespace {

/// Returns whether the view has few elements. With strides of 0, a view of a small storage can have
/// very many.
bool is_small(const assay::spec::Tensor& tensor) {
  return assay::spec::element_count(tensor.shape) <= 1 << 20;
}

}  // namespace

/// A separate process reads hostile files and sends an answer. Here the fuzzer's bytes are this
/// answer. It must either contain a record of valid tensors or lead to an error.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay::fixtures;
  constexpr std::size_t most = 1 << 16;  // the capacity of a connection
  int ends[2] = {-1, -1};
  if (size > most || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  const Descriptor judge(ends[0]);
  {
    const Descriptor other(ends[1]);
    assay::fuzz::require(write(ends[1], bytes, size) == static_cast<ssize_t>(size));
  }
  Receiver from(
      judge.number(), 1 << 20, [] {}, [] { throw StoreError("it ended"); });
  CaseRecord record;
  try {
    from.take(head_of(record)), from.take(rest_of(record));
    require_consistent(record, nullptr, "fuzzed");
  } catch (const StoreError&) {
    return 0;
  } catch (const Nonsense&) {
    return 0;
  }
  for (const NamedTensor& input : record.inputs)  // any element can be read
    if (is_small(input.tensor)) digest(input.tensor);
  return 0;
}
