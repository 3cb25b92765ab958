#pragma once

#include <algorithm>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/selection/requirements.hpp"

/// The requirements of NsaSelectedAttentionGrad, in groups.
namespace assay::spec::nsa::selection {

using SelectedOp = NsaSelectedAttentionGrad;
using SelectedCall = Call<SelectedOp>;
using SelectedProblem = SelectedOp::Problem;
using SelectedRow = Requirement<SelectedOp>;

template <>
inline constexpr auto ranked<SelectedOp> =
    Tensors<SelectedOp, &SelectedOp::Parameters::query, &SelectedOp::Parameters::key,
            &SelectedOp::Parameters::value, &SelectedOp::Parameters::attention_out,
            &SelectedOp::Parameters::attention_out_grad, &SelectedOp::Parameters::softmax_max,
            &SelectedOp::Parameters::softmax_sum, &SelectedOp::Parameters::topk_indices>();

inline constexpr std::string_view returns = "return values", parameters = "parameters",
                                  limits = "constraints";
inline constexpr ExpectedStatus invalid = exactly(Status::param_invalid),
                                null = exactly(Status::param_nullptr);

/// Builds a requirement from a section of the documentation page, with the status code that the
/// page names.
inline SelectedRow stated(std::string_view id, std::string_view section,
                          std::string_view statement = {}, std::string_view notes = {},
                          ExpectedStatus status = any_refusal) {
  return {.id = id,
          .statement = statement,
          .source = {selected_page, section},
          .standing = Standing::documented,
          .notes = notes,
          .status = status};
}
/// Builds a requirement from the vendor's code, or from the documentation page of the forward
/// operator.
inline SelectedRow coded(std::string_view id, Source source, std::string_view statement = {}) {
  return {.id = id, .statement = statement, .source = source, .standing = Standing::upstream};
}

/// Returns whether `members` have the same extent as `model` along `axis`. Another requirement,
/// NSAS-C12, checks the ranks.
inline bool agree(const SelectedCall& c, Member<SelectedOp> model,
                  std::initializer_list<Member<SelectedOp>> members, std::size_t axis) {
  return !ranks_fit(c) || std::ranges::all_of(members, [&](Member<SelectedOp> member) {
    return (c.parameters.*member).shape[axis] == (c.parameters.*model).shape[axis];
  });
}
/// Changes an operand together with its gradient, so that the call still satisfies requirement
/// NSAS-C37 (equal shapes).
template <Member<SelectedOp> operand, Member<SelectedOp> gradient, std::size_t axis>
void grow_pair(SelectedCall& call) {
  grow(call.parameters.*operand, axis);
  grow(call.parameters.*gradient, axis);
}

std::vector<SelectedRow> selected_length_requirements();
std::vector<SelectedRow> selected_size_requirements();

}  // namespace assay::spec::nsa::selection
