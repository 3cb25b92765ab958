#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

/// Coverage of random numbers from a range, such as lengths. The coverage of pairs of values is
/// separate.
namespace assay::conformance {

/// One number of a case: a head size, a sequence length, or the end of a window.
struct Size {
  std::string_view name;
  std::int64_t value;
  std::int64_t counted = 0;           ///< largest value that a small index type can count; 0: none
  std::set<std::int64_t> legal = {};  ///< all legal values if they are few; else empty
};

/// Returns the multiples `step`, 2 * `step`, ... up to `most`.
inline std::set<std::int64_t> multiples(std::int64_t step, std::int64_t most) {
  std::set<std::int64_t> values;
  for (std::int64_t value = step; value <= most; value += step) values.insert(value);
  return values;
}

/// Returns the sizes of a case. A list contributes one size for each of its numbers. Returns
/// nothing if the case computes no outputs.
template <class Op>
std::vector<Size> sizes_of(const Case<Op>& c) {
  if (c.track == Track::arguments || !c.violate.empty()) return {};
  return Suite<Op>::sizes(c);
}

/// All values that one size (for example a head size) has in the cases.
struct SizeCoverage {
  std::string name;
  std::int64_t counted = 0, beyond = 0;  ///< cases with more than `counted`
  std::set<std::int64_t> values;
  std::set<std::int64_t> legal = {}, missing = {};  ///< all legal values; those in no case

  /// Removes from `missing` all values that `other` contains.
  void complete_from(const SizeCoverage& other) {
    for (const std::int64_t value : other.values) missing.erase(value);
  }
};

/// Adds the sizes of one case to the coverage.
inline void cover(std::vector<SizeCoverage>& coverage, const std::vector<Size>& sizes) {
  for (const Size& size : sizes) {
    auto known = std::ranges::find(coverage, size.name, &SizeCoverage::name);
    if (known == coverage.end())
      known = coverage.insert(known, {.name = std::string(size.name),
                                      .counted = size.counted,
                                      .values = {},
                                      .legal = size.legal,
                                      .missing = size.legal});
    known->values.insert(size.value);
    known->missing.erase(size.value);
    if (size.counted > 0 && size.value > size.counted) ++known->beyond;
  }
}

/// For each size in `coverage`: removes from its missing values those that `others` contains.
inline void complete(std::vector<SizeCoverage>& coverage, const std::vector<SizeCoverage>& others) {
  for (SizeCoverage& size : coverage)
    for (const SizeCoverage& other : others)
      if (other.name == size.name) size.complete_from(other);
}

}  // namespace assay::conformance
