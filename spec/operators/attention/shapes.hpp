#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Gives key another head size than query. In layouts with one common axis for heads and channels,
/// the extent of this axis is then not a multiple of query's head size.
template <class Op>
void widen_key(Call<Op>& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (merges_heads(problem->input_layout) && problem->head_dim == 1) return;
  Shape shape = call.parameters.key.shape;
  ++shape.back();
  for (const MemberOf<Op> member : TensorRoles<Op>::key_like)
    reshape(call.parameters.*member, shape);
}

/// Sets inputLayout if the entry point is for packed sequences (packed = true), or if it is for
/// padded sequences (packed = false). Otherwise leaves the call unchanged.
template <bool packed, class Op>
void name_layout(Call<Op>& call, std::string_view name) {
  if (is_packed(call) == packed) call.attributes.input_layout = name;
}

template <class Op>
Requirement<Op> padded_layout(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "inputLayout is BSH, SBH, BSND or BNSD, in capitals.",
           .applies = [](const Call<Op>& c) { return is_padded(c) && c.attributes.input_layout; },
           .holds =
               [](const Call<Op>& c) {
                 return is_packed(c) || !c.attributes.input_layout || layout_of(c);
               },
           .violations = {{"lower_case", [](Call<Op>& c) { name_layout<false>(c, "bnsd"); }},
                          {"tnd", [](Call<Op>& c) { name_layout<false>(c, "TND"); }},
                          {"trailing_space", [](Call<Op>& c) { name_layout<false>(c, "BSND "); }},
                          {"unknown", [](Call<Op>& c) { name_layout<false>(c, "BHSD"); }},
                          {"empty", [](Call<Op>& c) { name_layout<false>(c, ""); }}}});
}

template <class Op>
Requirement<Op> packed_layout(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "inputLayout is TND, in capitals.",
           .applies = [](const Call<Op>& c) { return is_packed(c) && c.attributes.input_layout; },
           .holds =
               [](const Call<Op>& c) {
                 return is_padded(c) || !c.attributes.input_layout || layout_of(c);
               },
           .violations = {{"lower_case", [](Call<Op>& c) { name_layout<true>(c, "tnd"); }},
                          {"padded", [](Call<Op>& c) { name_layout<true>(c, "BSND"); }},
                          {"trailing_space", [](Call<Op>& c) { name_layout<true>(c, "TND "); }},
                          {"unknown", [](Call<Op>& c) { name_layout<true>(c, "NTD"); }},
                          {"empty", [](Call<Op>& c) { name_layout<true>(c, ""); }}}});
}

/// Adds an empty sequence to query or to key, so that the two have different numbers of sequences.
inline void repeat_last(std::optional<std::vector<std::int64_t>>& sums) {
  if (sums && !sums->empty()) sums->push_back(sums->back());
}

template <class Op>
bool one_batch(const Call<Op>& c) {
  const auto& p = c.parameters;
  if (is_packed(c))
    return !p.actual_seq_qlen || !p.actual_seq_kvlen ||
           p.actual_seq_qlen->size() == p.actual_seq_kvlen->size();
  const std::size_t axis = *position_of(*layout_of(c), Axis::batch);
  return std::ranges::all_of(TensorRoles<Op>::operands, [&](MemberOf<Op> member) {
    return (p.*member).shape[axis] == p.query.shape[axis];
  });
}

template <class Op>
Requirement<Op> one_batch_size(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "query, keyIn, value and dy have the same batch size; in TND actualSeqQLen and "
                    "actualSeqKvLen have the same number of entries.",
       .applies = ranks_fit,
       .holds = [](const Call<Op>& c) { return !ranks_fit(c) || one_batch(c); },
       .violations = {
           {"key", [](Call<Op>& c) { grow(c, TensorRoles<Op>::key_like, Axis::batch); }},
           {"value", [](Call<Op>& c) { grow(c, TensorRoles<Op>::value_like, Axis::batch); }},
           {"lengths_q", [](Call<Op>& c) { repeat_last(c.parameters.actual_seq_qlen); }},
           {"lengths_kv", [](Call<Op>& c) { repeat_last(c.parameters.actual_seq_kvlen); }}}});
}

/// Requires that the tensors that inputLayout describes have the rank of the layout. Accepts
/// tensors for which `is_spared` returns true, because other requirements check them.
template <class Op, auto is_spared>
Requirement<Op> ranks(const Stated<Op>& by, std::vector<Violation<Op>> violations) {
  return stated<Op>(
      by, {.statement = "The tensors in inputLayout have as many axes as inputLayout has letters.",
           .applies = [](const Call<Op>& c) { return layout_of(c).has_value(); },
           .holds =
               [](const Call<Op>& c) {
                 const auto layout = layout_of(c);
                 if (!layout) return true;
                 return std::ranges::all_of(
                     TensorRoles<Op>::laid_out(takes_ropes(c)), [&](MemberOf<Op> member) {
                       const Parameter& parameter = c.parameters.*member;
                       return !parameter.present || parameter.shape.size() == rank_of(*layout) ||
                              is_spared(c, member);
                     });
               },
           .violations = std::move(violations)});
}

template <auto member, class Op>
void drop_rope_axis(Call<Op>& call) {
  if (takes_ropes(call)) drop_axis<member>(call);
}
template <auto member, class Op>
void add_rope_axis(Call<Op>& call) {
  if (takes_ropes(call)) add_axis<member>(call);
}

/// Returns whether key and value have the same shape except for the head size. Accepts different
/// batch sizes and a key without heads, because other requirements check them.
template <class Op>
bool key_and_value_agree(const Call<Op>& c) {
  const auto key = key_as_given(c);
  if (!key || key->heads == 0) return true;
  const auto value = value_as_given(c);
  if (!value || value->heads != key->heads) return false;
  const auto& p = c.parameters;
  Shape expected = with_head_size(c, p.key.shape, key->heads, value->dim);
  if (const auto batch = position_of(*layout_of(c), Axis::batch))
    expected[*batch] = p.value.shape[*batch];
  return p.value.shape == expected;
}

/// Adds one head to value. In layouts with one common axis for heads and channels, gives this axis
/// an extent that is not a multiple of the number of heads.
template <class Op>
void miscount_value_heads(Call<Op>& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (!merges_heads(problem->input_layout)) {
    grow(call, TensorRoles<Op>::value_like, Axis::heads);
    return;
  }
  if (problem->heads_kv == 1) return;
  Shape shape = call.parameters.value.shape;
  ++shape.back();
  for (const MemberOf<Op> member : TensorRoles<Op>::value_like)
    reshape(call.parameters.*member, shape);
}

/// Requires that key and value have the same shape except for the head size. The test calls that
/// violate this requirement are the same for the forward and its gradient.
template <class Op>
Requirement<Op> operands_in_step(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "keyIn and value differ only in their head size.",
           .applies = has_key_extents,
           .holds = key_and_value_agree,
           .violations = {
               {"value_seq", [](Call<Op>& c) { grow(c, TensorRoles<Op>::value_like, Axis::seq); }},
               {"value_heads", miscount_value_heads}}});
}

template <class Op>
Requirement<Op> one_head_size(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "query and keyIn have the same head size.",
                         .applies = has_query_extents,
                         .holds =
                             [](const Call<Op>& c) {
                               const auto query = query_as_given(c);
                               if (!query || query->dim == 0) return true;
                               const std::int64_t last = c.parameters.key.shape.back();
                               return merges_heads(*layout_of(c)) ? last % query->dim == 0
                                                                  : last == query->dim;
                             },
                         .violations = {{"key", widen_key}}});
}

template <class Op>
Requirement<Op> narrow_value(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "The head size of value is at most the head size of keyIn.",
           .applies = has_value_extents,
           .holds =
               [](const Call<Op>& c) {
                 const auto value = value_as_given(c);
                 return !value || value->dim <= key_as_given(c)->dim;
               },
           .violations = {{"value", [](Call<Op>& c) {
                             rewrite(c, [](AttentionProblem& p) { p.head_dim_v = p.head_dim + 1; });
                           }}}});
}

}  // namespace assay::spec::detail
