#include <stdexcept>
#include <type_traits>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "fuzz.hpp"
#include "isolated/messages.hpp"

namespace {

using namespace assay;

/// Unpacking the bytes either gives a value that packs to the same bytes, or throws
/// std::runtime_error.
template <class T>
void take(const std::string& text) {
  try {
    adapters::Unpacker(text).take<T>();
  } catch (const std::runtime_error&) {
  }
}

template <class Op>
void take_of(const std::string& text) {
  take<spec::Call<Op>>(text);
  take<typename Op::Problem>(text);
}

}  // namespace

/// The first byte selects the kind of message between judge and worker.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Bytes from(bytes, size);
  const auto kind = from.take<std::uint8_t>();
  const std::string text = from.rest();
  switch (kind % 7) {
    case 0:
      take_of<spec::FlashAttentionScoreGrad>(text);
      break;
    case 1:
      take_of<spec::NsaSelectedAttentionGrad>(text);
      break;
    case 2:
      take_of<spec::NsaCompressGrad>(text);
      break;
    case 3:
      take<adapters::Greeting>(text);
      break;
    case 4:
      take<std::vector<adapters::Outline>>(text);
      break;
    case 5:
      take<std::vector<spec::Metric>>(text);
      break;
    default:
      take<spec::Numerics>(text);
  }
  return 0;
}
