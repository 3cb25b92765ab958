#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/compression.hpp"

/// Definitions that are common to all operators on packed sequences with sliding windows.
namespace assay::conformance::compression {

/// The problem that all these operators share, forward and gradient.
using Problem = spec::CompressionProblem;

/// The kinds of rows that a tensor can have: one row for each token, for each window, or for each
/// weight. A row of a weight has one channel.
enum class RowKind : std::uint8_t { token, window, weight };

/// Returns extents in which the weight w of head n is the row (0, n, w).
spec::Extents weight_extents(const Problem& problem);

/// Returns the function that computes the extents of a tensor with such rows.
using ExtentsOf = spec::Extents (*)(const Problem&);
ExtentsOf extents_of(RowKind kind);

/// Returns the number of windows of sequence b, and of all sequences.
std::int64_t windows_of(const Problem& problem, std::int64_t b);
std::int64_t all_windows(const Problem& problem);

/// The windows of a sequence: from `first` to before `last`.
struct WindowRange {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

/// Returns the windows of sequence b that cover its token p.
WindowRange covering_windows(const Problem& problem, std::int64_t b, std::int64_t p);

/// Returns the largest number of windows that cover one token.
std::int64_t most_covering_windows(const Problem& problem);

/// Sets lengths, batch and seq; equal lengths are stored as one number.
void set_lengths(Problem& problem, std::vector<std::int64_t> lengths);

}  // namespace assay::conformance::compression
