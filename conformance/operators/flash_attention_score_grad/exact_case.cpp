#include "attention/exact/exact_case.hpp"

#include <utility>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/mask_pattern.hpp"

namespace assay::conformance {

using Op = spec::FlashAttentionScoreGrad;

AttentionExactCase make_exact_case_with_mask(const Case<Op>& c, const spec::Numerics& numerics,
                                             std::optional<spec::Tensor> atten_mask,
                                             ExactPart part) {
  const attention::MaskPattern key_pattern(c.problem, atten_mask ? &*atten_mask : nullptr);
  AttentionExactCase result = exact::attending({.problem = c.problem,
                                                .entry_point = c.entry_point,
                                                .product = c.product,
                                                .inputs = c.inputs,
                                                .outputs = c.outputs,
                                                .track = c.track,
                                                .rows = c.rows,
                                                .seed = c.seed},
                                               numerics, key_pattern, part);
  result.inputs.atten_mask = std::move(atten_mask);
  return result;
}

AttentionExactCase Suite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                    ExactPart part) {
  return make_exact_case_with_mask(c, numerics, make_mask(c), part);
}

std::vector<ExactTensor> Suite<Op>::exact_tensors(const AttentionExactCase& exact_case,
                                                  const Op::Problem& problem) {
  return exact::exact_tensors(exact_case, problem);
}

void Suite<Op>::compare_exact(const AttentionExactCase& exact_case, const Op::Problem& problem,
                              const Op::Outputs& outputs, const spec::Numerics& numerics,
                              CaseReport& report) {
  exact::compare_exact(exact_case, problem, attention::gradient_tensors(outputs), 1, numerics,
                       report);
}

}  // namespace assay::conformance
