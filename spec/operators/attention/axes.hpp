#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"

/// Axes and extents of tensors in a call. The requirements use these functions. Do not use them in
/// an implementation: a mistake in them would then be in both the tests and the implementation.
namespace assay::spec::detail {

using Sums = std::optional<std::vector<std::int64_t>>;

enum class Axis : std::uint8_t { batch, heads, seq, dim };

/// Returns whether the tensor is present. A null pointer or a tensor of rank 0 counts as absent.
bool given(const Parameter& parameter);

/// Returns whether heads and channels have a common axis, as in BSH and SBH.
bool merges_heads(Layout layout);

std::size_t rank_of(Layout layout);

/// Returns the index of an axis in a layout. In TND the tokens of all sequences form the seq axis,
/// and the batch axis does not exist.
std::optional<std::size_t> position_of(Layout layout, Axis axis);

std::int64_t extent(const Parameter& parameter, Layout layout, Axis axis);

/// Returns whether any sequence is empty.
bool has_empty_length(const Extents& extents);

/// Returns whether the cumulative lengths never decrease and do not exceed the number of tokens of
/// `parameter`.
bool sums_fit(const Sums& sums, const Parameter& parameter);

Extents packed_extents(const Parameter& parameter, const Sums& sums);

/// Returns the extents of a padded tensor. If heads and channels have a common last axis, the axis
/// consists of `heads` heads.
std::optional<Extents> padded_extents(const Parameter& parameter, Layout layout,
                                      std::int64_t heads);

/// Returns the lengths of all sequences, in the form that the member `lengths` has: an empty list
/// if all lengths are equal.
std::vector<std::int64_t> lengths_of(const Extents& extents);

/// Gives `parameter` a shape and contiguous strides.
void reshape(Parameter& parameter, const Shape& shape);

/// Simplify the sizes and types of a computation. make_uniform: one length (at least 1) for all
/// queries and one for all keys. make_square: equal lengths of queries and keys. make_square_fp32:
/// also type fp32, for which the documentation does not contradict itself about the type of slopes.
/// make_small: one short head.
void make_uniform(AttentionProblem& problem);
void make_square(AttentionProblem& problem);
void make_square_fp32(AttentionProblem& problem);
void make_small(AttentionProblem& problem);
/// Calls make_uniform if any sequence is empty.
void leave_no_sequence_empty(AttentionProblem& problem);

}  // namespace assay::spec::detail
