#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/nsa_table.hpp"

/// What the table of NsaSelectedAttentionGrad reads in a call and how it breaks one; for the table
/// only.
namespace assay::spec::nsa {

using SelectedOp = NsaSelectedAttentionGrad;
using SelectedCall = Call<SelectedOp>;
using SelectedProblem = SelectedOp::Problem;
using SelectedRow = Requirement<SelectedOp>;

/// Whether query, key, value, attentionOut, attentionOutGrad, statistics and topkIndices are given
/// with rank 3.
bool ranks_fit(const SelectedCall& call);

/// Whether both arrays of sums are given and not empty.
bool has_sums(const SelectedCall& call);

/// Whether `sums` start above 0, rise strictly and end with the tokens of `parameter`.
bool sums_fit(const Sums& sums, const Parameter& parameter);

/// What shapes and sums say of query and key, or nothing where ranks or sums leave it open.
std::optional<Extents> query_as_given(const SelectedCall& call);
std::optional<Extents> key_as_given(const SelectedCall& call);

/// The problem that a call asks for whose ranks and sums fit, or nothing.
std::optional<SelectedProblem> problem_of(const SelectedCall& call);

/// Asks for the call's problem, contiguous and without mask, after `change`; all sequences of a
/// side are as long as the longest, and of the keys as many blocks as are selected.
void rewrite(SelectedCall& call, void (*change)(SelectedProblem& problem));

/// Passes the canonical mask unless one is given.
void put_mask(SelectedCall& call);

std::vector<SelectedRow> selected_presence_requirements();
std::vector<SelectedRow> selected_type_requirements();
std::vector<SelectedRow> selected_shape_requirements();
std::vector<SelectedRow> selected_length_requirements();
std::vector<SelectedRow> selected_size_requirements();
std::vector<SelectedRow> selected_attribute_requirements();
std::vector<SelectedRow> selected_content_requirements();

}  // namespace assay::spec::nsa
