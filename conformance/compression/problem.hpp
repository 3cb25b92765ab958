#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/compression.hpp"

/// Definitions that are common to all operators that compress sliding windows of packed sequences.
namespace assay::conformance::compression {

/// The problem description of all operators that compress windows of tokens, forward and gradient.
using Problem = spec::CompressionProblem;

/// The meaning of a row of a tensor: a token, a window, or a weight. A weight row has one element.
enum class RowKind : std::uint8_t { token, window, weight };

/// Returns extents that number the weights: weight w of head n is row (0, n, w).
spec::Extents weight_extents(const Problem& problem);

/// Returns the function that computes the extents of a tensor whose rows are tokens, windows or
/// weights, as the argument says.
using ExtentsOf = spec::Extents (*)(const Problem&);
ExtentsOf extents_of(RowKind kind);

/// These functions return the number of windows of sequence b, and of all sequences.
std::int64_t windows_of(const Problem& problem, std::int64_t b);
std::int64_t all_windows(const Problem& problem);

/// A range of windows of a sequence: `first` is included, `last` is not.
struct WindowRange {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

/// Returns the windows of sequence b that cover its token p.
WindowRange covering_windows(const Problem& problem, std::int64_t b, std::int64_t p);

/// Returns the largest number of windows that cover one token.
std::int64_t most_covering_windows(const Problem& problem);

/// Sets the sequence lengths and the fields batch and seq. Equal lengths are stored as one number.
void set_lengths(Problem& problem, std::vector<std::int64_t> lengths);

}  // namespace assay::conformance::compression
