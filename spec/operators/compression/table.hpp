#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "assay/spec/compression.hpp"
#include "operators/stock.hpp"

/// Functions that read calls of NsaCompress and its gradient, and functions that make calls which
/// break a requirement. Only the requirements use them; do not use them in an implementation.
namespace assay::spec::nsa {

/// Returns whether all tensors are present with the correct ranks.
template <class Op>
bool ranks_fit(const Call<Op>& call) {
  return has_listed_ranks(call, all_tensors<Op>, true);
}

/// Returns whether the call has an array of cumulative lengths that is not empty.
template <class Op>
bool has_sums(const Call<Op>& call) {
  const Sums& sums = call.parameters.act_seq_len;
  return sums && !sums->empty();
}

/// Returns the cumulative lengths of a call. If actSeqLenType is 1, the array contains plain
/// lengths, and the function adds them up. The result is a single -1 if a length is negative or too
/// large.
template <class Op>
Sums sums_of(const Call<Op>& call) {
  Sums sums = call.parameters.act_seq_len;
  if (!sums || call.attributes.act_seq_len_type != 1) return sums;
  std::int64_t end = 0;
  for (std::int64_t& entry : *sums) {
    if (entry < 0 || entry > std::numeric_limits<std::int64_t>::max() - end)
      return std::vector<std::int64_t>{-1};
    end = entry += end;
  }
  return sums;
}

/// Returns whether the cumulative lengths start at 0 or above and never decrease.
inline bool is_ascending(const Sums& sums) {
  return sums && !sums->empty() && sums->front() >= 0 && std::ranges::is_sorted(*sums);
}

/// Returns the extents of input, from its shape and the cumulative lengths; nothing if these do not
/// define them.
template <class Op>
std::optional<Extents> input_as_given(const Call<Op>& call) {
  const Shape& input = call.parameters.input.shape;
  const Sums sums = sums_of(call);
  if (!ranks_fit(call) || !is_ascending(sums) || sums->back() != input[0]) return std::nullopt;
  return packed_extents(input, *sums);
}

/// Returns the number of windows of all sequences; nothing if the cumulative lengths or the window
/// do not define it.
template <class Op>
std::optional<std::int64_t> windows_as_given(const Call<Op>& call) {
  const auto input = input_as_given(call);
  const auto& a = call.attributes;
  if (!input || a.compress_block_size <= 0 || a.compress_stride <= 0) return std::nullopt;
  std::int64_t windows = 0;
  for (std::int64_t b = 0; b < input->batch; ++b)
    windows += window_count(input->length(b), a.compress_block_size, a.compress_stride);
  return windows;
}

/// Returns the problem (the sizes and options of the computation) of a call. Returns nothing if
/// ranks or cumulative lengths do not match.
template <class Op>
std::optional<CompressionProblem> problem_of(const Call<Op>& call) {
  const auto input = input_as_given(call);
  if (!input) return std::nullopt;
  return CompressionProblem{.dtype = call.parameters.input.dtype,
                            .batch = input->batch,
                            .heads = input->heads,
                            .seq = input->seq,
                            .lengths = lengths_of(*input),
                            .head_dim = input->dim,
                            .compress_block_size = call.attributes.compress_block_size,
                            .compress_stride = call.attributes.compress_stride};
}

/// Applies `change` to the sizes and options of the call. Then makes a new call with them: its
/// tensors are contiguous, and every sequence has the length of the longest one.
template <class Op, class Change>
void rewrite(Call<Op>& call, const Change& change) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->lengths.clear();
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

/// Builds the call again after a change of one size or option.
template <auto field, std::int64_t value, class Op>
void rewrite_with(Call<Op>& call) {
  rewrite(call, [](CompressionProblem& p) { p.*field = value; });
}

template <std::int64_t size, std::int64_t stride, class Op>
void make_windows(Call<Op>& call) {
  rewrite(call, [](CompressionProblem& p) {
    p.compress_block_size = size;
    p.compress_stride = stride;
    p.seq = std::max(p.seq, size);
  });
}

/// Sets an attribute and leaves the tensors unchanged.
template <std::int64_t CompressionAttributes::*attribute, std::int64_t value, class Op>
void set(Call<Op>& call) {
  call.attributes.*attribute = value;
}

}  // namespace assay::spec::nsa
