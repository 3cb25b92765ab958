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

/// The sequences that a smaller case keeps: `count` sequences from `first` on if `inside` is true,
/// otherwise all other sequences.
struct SequenceChoice {
  std::int64_t first, count;
  bool inside;

  /// Returns the values of the sequences that are kept. `values` has one value per sequence.
  std::vector<std::int64_t> of(const std::vector<std::int64_t>& values) const;
};

/// The number of sequences for which reductions of a single sequence are tried: keep only this
/// sequence, remove it, or shorten it.
inline constexpr std::int64_t most_single_sequences = 8;

/// Returns which sequences a smaller case may keep, out of `batch` sequences: single sequences,
/// each half, and all except one. Empty if there is only one sequence.
std::vector<SequenceChoice> fewer_sequences(std::int64_t batch);

}  // namespace assay::conformance
