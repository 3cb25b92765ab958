#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "assay/spec/operators/selection.hpp"
#include "operators/stock.hpp"

/// Functions that read calls of NsaSelectedAttention and its gradient, and functions that make
/// calls which break a requirement. Only the requirements use them; do not use them in an
/// implementation.
namespace assay::spec::nsa::selection {

/// The tensors with three axes. Their shapes and the cumulative lengths define all sizes of a call.
template <class Op>
inline constexpr auto ranked = Tensors<Op>();

/// Returns whether the tensors in `ranked` are present with three axes.
template <class Op>
bool ranks_fit(const Call<Op>& call) {
  return has_listed_ranks(call, ranked<Op>, true);
}

/// Returns whether both arrays of cumulative lengths are present and not empty.
template <class Op>
bool has_sums(const Call<Op>& call) {
  const auto& p = call.parameters;
  return p.actual_seq_qlen && p.actual_seq_kvlen && !p.actual_seq_qlen->empty() &&
         !p.actual_seq_kvlen->empty();
}

/// Returns whether the cumulative lengths start above 0, strictly increase and end with the number
/// of tokens of `parameter`.
inline bool sums_fit(const Sums& sums, const Parameter& parameter) {
  return sums && !sums->empty() && sums->front() >= 1 &&
         std::ranges::adjacent_find(*sums, std::ranges::greater_equal()) == sums->end() &&
         sums->back() == parameter.shape[0];
}

/// Return the extents of query and of key, from shapes and cumulative lengths; nothing if these do
/// not define them.
template <class Op>
std::optional<Extents> query_as_given(const Call<Op>& call) {
  const auto& p = call.parameters;
  if (!ranks_fit(call) || !sums_fit(p.actual_seq_qlen, p.query) ||
      !sums_fit(p.actual_seq_kvlen, p.key) ||
      p.actual_seq_qlen->size() != p.actual_seq_kvlen->size())
    return std::nullopt;
  return packed_extents(p.query.shape, *p.actual_seq_qlen);
}
template <class Op>
std::optional<Extents> key_as_given(const Call<Op>& call) {
  if (!query_as_given(call)) return std::nullopt;
  return packed_extents(call.parameters.key.shape, *call.parameters.actual_seq_kvlen);
}

/// Returns the problem (the sizes and options of the computation) of a call. Returns nothing if
/// ranks or cumulative lengths are not consistent.
template <class Op>
std::optional<SelectionProblem> problem_of(const Call<Op>& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  if (!query || !key) return std::nullopt;
  const auto& p = call.parameters;
  const SelectionAttributes& a = call.attributes;
  return SelectionProblem{
      .dtype = p.query.dtype,
      .batch = query->batch,
      .heads_q = query->heads,
      .heads_kv = key->heads,
      .seq_q = query->seq,
      .seq_kv = key->seq,
      .lengths_q = lengths_of(*query),
      .lengths_kv = lengths_of(*key),
      .head_dim = query->dim,
      .head_dim_v = p.value.shape[2],
      .scale_value = a.scale_value,
      .selected_block_size = a.selected_block_size,
      .selected_block_count = a.selected_block_count,
      .sparse_mode = a.sparse_mode,
      .atten_mask = given(p.atten_mask) ? SelectedMask::compressed : SelectedMask::absent,
      .mask_dtype = given(p.atten_mask) ? p.atten_mask.dtype : DType::boolean};
}

/// The number of blocks of a key sequence minus the number of blocks that a query selects, in the
/// calls that `rewrite` builds.
template <class Op>
inline constexpr std::int64_t spare_blocks = 0;

/// Applies `change` to the sizes and options of the call, then builds the call again in a simple
/// form: contiguous, without mask, and with equal sequence lengths. Each key sequence has
/// `spare_blocks` more blocks than a query selects.
template <class Op>
void rewrite(Call<Op>& call, void (*change)(SelectionProblem& problem)) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->lengths_q.clear();
  problem->lengths_kv.clear();
  problem->atten_mask = SelectedMask::absent;
  problem->sparse_mode = 0;
  problem->seq_kv =
      problem->selected_block_size * (problem->selected_block_count + spare_blocks<Op>);
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

/// Passes the fixed mask pattern if the call has no mask.
template <class Op>
void put_mask(Call<Op>& call) {
  Parameter& mask = call.parameters.atten_mask;
  if (given(mask)) return;
  mask = {.present = true, .dtype = DType::boolean};
  reshape(mask, {compressed_mask_edge, compressed_mask_edge});
}
template <class Op>
bool has_mask(const Call<Op>& call) {
  return given(call.parameters.atten_mask);
}

/// Return extents of query, key and value. Call these functions only if `ranks_fit` returns true.
template <class Op>
std::int64_t heads_q(const Call<Op>& c) {
  return c.parameters.query.shape[1];
}
template <class Op>
std::int64_t heads_kv(const Call<Op>& c) {
  return c.parameters.key.shape[1];
}
template <class Op>
std::int64_t head_dim(const Call<Op>& c) {
  return c.parameters.query.shape[2];
}
template <class Op>
std::int64_t head_dim_v(const Call<Op>& c) {
  return c.parameters.value.shape[2];
}

/// Returns whether every sequence length of queries, or of keys, satisfies `holds`. The function
/// ignores other errors of the cumulative lengths.
template <class Holds>
bool every_length(const Sums& sums, const Holds& holds) {
  std::int64_t before = 0;
  for (const std::int64_t sum : sums.value_or(std::vector<std::int64_t>())) {
    if (!holds(sum - before)) return false;
    before = sum;
  }
  return true;
}

template <std::int64_t query, std::int64_t key, class Op>
void make_heads(Call<Op>& call) {
  rewrite(call, [](SelectionProblem& p) {
    p.heads_q = query;
    p.heads_kv = key;
  });
}
template <std::int64_t query, std::int64_t value, class Op>
void make_head_sizes(Call<Op>& call) {
  rewrite(call, [](SelectionProblem& p) {
    p.head_dim = query;
    p.head_dim_v = value;
  });
}
template <std::int64_t size, class Op>
void make_block(Call<Op>& call) {
  rewrite(call, [](SelectionProblem& p) {
    p.selected_block_size = size;
    p.seq_kv = size * (p.selected_block_count + spare_blocks<Op>);
  });
}

}  // namespace assay::spec::nsa::selection
