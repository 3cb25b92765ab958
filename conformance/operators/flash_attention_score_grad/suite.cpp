#include "attention/flash/suite.hpp"

#include "assay/conformance/case/unread_fields.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/flash/unread_fields.hpp"
#include "attention/plan/any_row.hpp"
#include "attention/relations/experiments.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"

namespace assay::conformance {

using Op = spec::FlashAttentionScoreGrad;

template struct flash::SuiteOf<Op>;

template <>
std::vector<std::string> unread_fields(const Case<Op>& c) {
  return flash::unread_fields_of(c);
}

Op::Inputs Suite<Op>::moved(const Op::Problem& problem, const Op::Problem& other,
                            const Op::Inputs& inputs) {
  Op::Inputs result = inputs;
  if (problem.statistics_order == other.statistics_order) return result;
  flash::move_statistics(problem, other, result.softmax_max);
  flash::move_statistics(problem, other, result.softmax_sum);
  return result;
}

double Suite<Op>::multiply_adds(const Op::Problem& p) {
  return attention::backward_multiply_adds(p);
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  using Oracle = reference::FlashAttentionScoreGrad<double>;
  const auto one = Oracle::from(problem, inputs), other = Oracle::from(changed, inputs);
  return attention::any_row(query_extents(problem),
                            [&](auto... at) {
                              const auto row = one.dq_row(at...), others = other.dq_row(at...);
                              return row.dq != others.dq || row.dq_rope != others.dq_rope;
                            }) ||
         attention::any_row(key_extents(problem), [&](auto... at) {
           const auto row = one.dkv_row(at...), others = other.dkv_row(at...);
           return row.dk != others.dk || row.dv != others.dv || row.dk_rope != others.dk_rope;
         });
}

}  // namespace assay::conformance
