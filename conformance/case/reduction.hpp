#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// A way to make a case smaller, by fields that hang together.
template <class Op>
struct Reduction {
  std::string_view name;
  /// Cases that are smaller than `c`, what is hoped for first; they need not be legal, nor
  /// different from each other.
  std::vector<Case<Op>> (*smaller)(const Case<Op>& c);
};

/// Values from `least` to `value`, without it: doubled ones first, since small cases are judged
/// quickly, then what halves the rest.
std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least);

/// Sequences that a smaller case keeps: `count` from `first` on, or all others.
struct SequenceChoice {
  std::int64_t first, count;
  bool inside;

  /// Of one value per sequence those of the kept ones.
  std::vector<std::int64_t> of(const std::vector<std::int64_t>& values) const;
};

/// Sequences of which one is kept alone, left out or shortened at a time.
inline constexpr std::int64_t most_single_sequences = 8;

/// What may be kept of `batch` sequences: single ones and the last, each half, all but a single
/// one. Nothing of one.
std::vector<SequenceChoice> fewer_sequences(std::int64_t batch);

}  // namespace assay::conformance
