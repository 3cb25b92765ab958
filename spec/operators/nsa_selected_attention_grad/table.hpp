#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/nsa_table.hpp"

/// Functions with which the requirements of NsaSelectedAttentionGrad read calls and make calls that
/// break them. Do not use them in an implementation.
namespace assay::spec::nsa {

using SelectedOp = NsaSelectedAttentionGrad;
using SelectedCall = Call<SelectedOp>;
using SelectedProblem = SelectedOp::Problem;
using SelectedRow = Requirement<SelectedOp>;

/// Returns whether query, key, value, attentionOut, attentionOutGrad, statistics and topkIndices
/// are given with rank 3.
bool ranks_fit(const SelectedCall& call);

/// Returns whether both arrays of sums are given and not empty.
bool has_sums(const SelectedCall& call);

/// Returns whether `sums` start above 0, strictly increase and end at the tokens of `parameter`.
bool sums_fit(const Sums& sums, const Parameter& parameter);

/// The extents of query and of key, from shapes and sums; nothing if ranks or sums do not define
/// them.
std::optional<Extents> query_as_given(const SelectedCall& call);
std::optional<Extents> key_as_given(const SelectedCall& call);

/// The problem that a call describes; nothing if its ranks or sums do not match.
std::optional<SelectedProblem> problem_of(const SelectedCall& call);

/// Applies `change` to the problem of the call, then writes the call again: contiguous, without
/// mask, with all sequences of a side as long as the longest one. The key sequences have as many
/// blocks as a query selects.
void rewrite(SelectedCall& call, void (*change)(SelectedProblem& problem));

/// Passes the fixed mask pattern unless the call has a mask.
void put_mask(SelectedCall& call);

std::vector<SelectedRow> selected_presence_requirements();
std::vector<SelectedRow> selected_type_requirements();
std::vector<SelectedRow> selected_shape_requirements();
std::vector<SelectedRow> selected_length_requirements();
std::vector<SelectedRow> selected_size_requirements();
std::vector<SelectedRow> selected_attribute_requirements();
std::vector<SelectedRow> selected_content_requirements();

}  // namespace assay::spec::nsa
