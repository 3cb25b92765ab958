#include <algorithm>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/relations/experiments.hpp"

namespace assay::conformance {

using Op = spec::FlashAttentionScoreGrad;

std::string Suite<Op>::open_reading(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const bool windowed = std::min(p.pre_tokens, p.next_tokens) < spec::unbounded_tokens;
  if (p.atten_mask != spec::MaskShape::absent || (p.sparse_mode == 0 && !windowed)) return {};
  return "disputed: without a mask the sparse mode and its window change no result, yet may be "
         "checked (FAG-Q12)";
}

double Suite<Op>::multiply_adds(const Op::Problem& p) { return flash::backward_multiply_adds(p); }

}  // namespace assay::conformance
