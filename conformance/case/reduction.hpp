#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// A way to make a case smaller. It changes several related fields together.
template <class Op>
struct Reduction {
  std::string_view name;
  /// Cases that are smaller than `c`, the most promising ones first. They may be illegal or equal
  /// to each other.
  std::vector<Case<Op>> (*smaller)(const Case<Op>& c);
};

/// The values to try, from `least` to below `value`. Powers of two times `least` come first,
/// because small cases are judged quickly. Then the remaining range is bisected.
std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least);

/// The sequences that a smaller case keeps. If `inside` is true: `count` sequences, beginning with
/// `first`; otherwise all except these.
struct SequenceChoice {
  std::int64_t first, count;
  bool inside;

  /// Returns the values of the sequences that are kept. `values` has one value per sequence.
  std::vector<std::int64_t> of(const std::vector<std::int64_t>& values) const;
};

/// Number of sequences for which reductions of a single sequence are tried: only this one, all
/// except this one, or a shorter one.
inline constexpr std::int64_t most_single_sequences = 8;

/// The choices of sequences to keep, out of `batch` sequences: single sequences and the last one,
/// each half, and all except one. Empty if there is only one sequence.
std::vector<SequenceChoice> fewer_sequences(std::int64_t batch);

}  // namespace assay::conformance
