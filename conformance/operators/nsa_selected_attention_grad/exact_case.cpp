#include "attention/exact/exact_case.hpp"

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"
#include "selection/key_pattern.hpp"

namespace assay::conformance {

using Op = spec::NsaSelectedAttentionGrad;

std::vector<ExactTensor> Suite<Op>::exact_tensors(const SelectedExactCase& exact_case,
                                                  const Op::Problem& p) {
  return exact::exact_tensors(exact_case.dense, selection::dense_problem(p));
}

SelectedExactCase Suite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                   ExactPart part) {
  SelectedExactCase result;
  result.inputs.topk_indices = make_topk_indices(c);
  result.inputs.atten_mask = make_causal_mask(c);
  result.dense =
      exact::attending(selection::dense_case(c), numerics,
                       selection::ListPattern(c.problem, result.inputs.topk_indices), part);
  const spec::FlashAttentionScoreGrad::Inputs& dense = result.dense.inputs;
  const Op::Parameters t = call_of(c).parameters;
  result.inputs.query = restrided(dense.query, t.query);
  result.inputs.key = restrided(dense.key, t.key);
  result.inputs.value = restrided(dense.value, t.value);
  result.inputs.attention_out = restrided(dense.attention_in, t.attention_out);
  result.inputs.attention_out_grad = restrided(dense.dy, t.attention_out_grad);
  result.inputs.softmax_max = restrided(dense.softmax_max, t.softmax_max);
  result.inputs.softmax_sum = restrided(dense.softmax_sum, t.softmax_sum);
  return result;
}

void Suite<Op>::compare_exact(const SelectedExactCase& exact_case, const Op::Problem& p,
                              const Op::Outputs& outputs, const spec::Numerics& numerics,
                              CaseReport& report) {
  exact::compare_exact(
      exact_case.dense, selection::dense_problem(p), selected::gradient_tensors(outputs),
      selection::ListPattern(p, exact_case.inputs.topk_indices).most_times(), numerics, report);
}

}  // namespace assay::conformance
