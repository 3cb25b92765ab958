#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// A step that makes a failing case smaller. It changes several fields that depend on each other.
template <class Op>
struct Reduction {
  std::string_view name;
  /// Returns smaller cases than `c`, the most promising ones first. Some may be illegal or equal to
  /// each other.
  std::vector<Case<Op>> (*smaller)(const Case<Op>& c);
};

/// Returns the numbers that are tried in place of `value`: at least `least` and below `value`.
/// Powers of two times `least` come first, because small cases are judged quickly. Then the
/// remaining range is bisected.
std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least);

/// Describes which sequences a smaller case keeps. If `inside` is true, it keeps `count` sequences
/// from index `first` on; otherwise it keeps all other sequences.
struct SequenceChoice {
  std::int64_t first, count;
  bool inside;

  /// `values` has one value per sequence. Returns the values of the sequences that are kept.
  std::vector<std::int64_t> of(const std::vector<std::int64_t>& values) const;
};

/// For at most this number of sequences, each single sequence is tried: keep only this sequence,
/// remove it, or shorten it.
inline constexpr std::int64_t most_single_sequences = 8;

/// Returns the choices of sequences that a smaller case may keep: single sequences, each half, or
/// all except one. `batch`: the number of sequences. Empty if there is only one sequence.
std::vector<SequenceChoice> fewer_sequences(std::int64_t batch);

}  // namespace assay::conformance
