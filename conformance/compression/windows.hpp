#pragma once

#include <cstdint>

#include "assay/spec/operators/nsa_compress_grad.hpp"

/// Operators on packed sequences with sliding windows.
namespace assay::conformance::compress {

using Problem = spec::NsaCompressGrad::Problem;

/// Windows [first, last) of a sequence.
struct WindowRange {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

/// Returns the windows of sequence b that cover its token p.
WindowRange covering_windows(const Problem& problem, std::int64_t b, std::int64_t p);

/// Returns the largest number of windows that cover one token.
std::int64_t most_covering_windows(const Problem& problem);

/// Returns the number of windows of all sequences.
std::int64_t all_windows(const Problem& problem);

/// Returns extents for weight and weight_grad: element (w, n) is row (0, n, w), which has one
/// channel.
spec::Extents weight_extents(const Problem& problem);

}  // namespace assay::conformance::compress
