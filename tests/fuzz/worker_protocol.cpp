#include <stdexcept>
#include <vector>

#include "assay/spec/operators.hpp"
#include "fuzz.hpp"
#include "isolated/messages.hpp"

namespace {

using namespace assay;

/// Unpacks the bytes. This must give a value that packs to the same bytes, or throw
/// std::runtime_error.
template <class T>
void take(const std::string& text) {
  try {
    adapters::Unpacker(text).take<T>();
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

/// The first byte selects the kind of message between judge and worker.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using Take = void (*)(const std::string&);
  static const std::vector<Take> kinds = [] {
    std::vector<Take> all = {take<adapters::Greeting>, take<std::vector<adapters::Outline>>,
                             take<std::vector<spec::Metric>>, take<spec::Numerics>};
    spec::for_each_operator([&]<class Op> {
      all.push_back(take<spec::Call<Op>>);
      all.push_back(take<typename Op::Problem>);
    });
    return all;
  }();
  fuzz::Bytes from(bytes, size);
  const auto kind = from.take<std::uint8_t>();
  kinds[kind % kinds.size()](from.rest());
  return 0;
}
