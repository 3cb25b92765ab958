#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"

/// Axes and extents of tensors in a call. The requirements use these functions. Do not use them in
/// an implementation: if it checked its arguments with them, it would share their mistakes.
namespace assay::spec::detail {

using Sums = std::optional<std::vector<std::int64_t>>;

enum class Axis : std::uint8_t { batch, heads, seq, dim };

/// Returns whether the tensor is present: not a null pointer, and not of rank 0, which means absent
/// for an optional tensor.
bool given(const Parameter& parameter);

/// Returns whether heads and channels share an axis, as in BSH and SBH.
bool merges_heads(Layout layout);

std::size_t rank_of(Layout layout);

/// The index of an axis in a layout. In TND the tokens of all sequences form the seq axis, and
/// there is not a batch axis.
std::optional<std::size_t> position_of(Layout layout, Axis axis);

std::int64_t extent(const Parameter& parameter, Layout layout, Axis axis);

/// Returns whether one of the sequences is empty.
bool has_empty_length(const Extents& extents);

/// Returns whether the sums of lengths never decrease and do not exceed the number of tokens of
/// `parameter`.
bool sums_fit(const Sums& sums, const Parameter& parameter);

Extents packed_extents(const Parameter& parameter, const Sums& sums);

/// Returns the extents of a padded tensor. If heads and channels share the last axis, the axis
/// consists of `heads` heads.
std::optional<Extents> padded_extents(const Parameter& parameter, Layout layout,
                                      std::int64_t heads);

/// The lengths of the sequences as a problem stores them: empty if all are equal.
std::vector<std::int64_t> lengths_of(const Extents& extents);

/// Gives `parameter` a shape and contiguous strides.
void reshape(Parameter& parameter, const Shape& shape);

/// Return a simpler problem. The functions set: one length (at least 1) for all queries and one for
/// all keys; equal lengths of queries and keys; equal lengths and fp32, for which the type of
/// slopes is not disputed; one short head.
void make_uniform(AttentionProblem& problem);
void make_square(AttentionProblem& problem);
void make_square_fp32(AttentionProblem& problem);
void make_small(AttentionProblem& problem);
/// Calls make_uniform if a sequence is empty.
void leave_no_sequence_empty(AttentionProblem& problem);

}  // namespace assay::spec::detail
