#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// Indices along one axis at which something was seen.
class IndexSet {
 public:
  explicit IndexSet(std::int64_t extent) : extent_(extent) {}

  void add(std::int64_t index);
  void append(const IndexSet& others);
  /// Ascending.
  std::vector<std::int64_t> members() const;

  /// "s = 3", "the last n", "n = 1 and 4", "s from 14 to the end", "every 16th s from 15", "s mod
  /// 64 from 48 to 63", "s from 48 to 60"; empty where `sightings`, as many as there were, may be
  /// anywhere: chance then leaves the rest out as well. Where only some of the indices were
  /// `looked_at`, no more than the last of these is said.
  std::string text(std::string_view axis, std::int64_t sightings, bool all_looked_at) const;

 private:
  std::int64_t extent_;
  std::vector<bool> seen_;  ///< empty before the first
};

}  // namespace assay::conformance
