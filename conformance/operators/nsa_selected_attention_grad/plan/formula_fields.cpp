#include "assay/conformance/plan/formula_fields.hpp"

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/plan/any_row.hpp"
#include "operators/nsa_selected_attention_grad/plan/factors.hpp"

namespace assay::conformance {

using Op = spec::NsaSelectedAttentionGrad;

/// The block count is omitted, because it determines the shape of the lists.
std::span<const FormulaField<Op>> Suite<Op>::formula_fields() {
  using selected::factors;
  static const std::vector<FormulaField<Op>> all = {
      {"scale_value",
       [](const Case<Op>&) { return true; },
       [](Op::Problem& p) { p.scale_value = p.scale_value == 0 ? 0.5 : 1.25 * p.scale_value; },
       {factors().choice({})}},
      {"selected_block_size",
       [](const Case<Op>&) { return true; },
       [](Op::Problem& p) { p.selected_block_size /= 2; },
       {factors().choice({})}},
      {"sparse_mode",
       [](const Case<Op>& c) { return c.problem.atten_mask != spec::SelectedMask::absent; },
       [](Op::Problem& p) { p.sparse_mode = p.sparse_mode == 0 ? 2 : 0; },
       {factors().choice({{"mask", "compressed"}})}},
  };
  return all;
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  using Oracle = reference::NsaSelectedAttentionGrad<double>;
  const auto one = Oracle::from(problem, inputs), other = Oracle::from(changed, inputs);
  return attention::any_row(query_extents(problem),
                            [&](auto... at) { return one.dq_row(at...) != other.dq_row(at...); }) ||
         attention::any_row(key_extents(problem), [&](auto... at) {
           const auto row = one.dkv_row(at...), changed_row = other.dkv_row(at...);
           return row.dk != changed_row.dk || row.dv != changed_row.dv;
         });
}

}  // namespace assay::conformance
