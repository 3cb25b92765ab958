#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/conformance/result/pattern.hpp"

namespace assay::conformance {

/// Indices along one axis at which something was seen.
class IndexSet {
 public:
  explicit IndexSet(std::int64_t extent) : extent_(extent) {}

  void add(std::int64_t index);
  void append(const IndexSet& others);
  /// Ascending.
  std::vector<std::int64_t> members() const;

  /// Where they lie; nothing where `sightings`, as many as there were, may be anywhere: chance then
  /// leaves the rest out as well. Where only some of the indices were `looked_at`, a range at most.
  std::optional<AxisPlace> place(std::string_view axis, std::int64_t sightings,
                                 bool all_looked_at) const;

 private:
  std::int64_t extent_;
  std::vector<bool> seen_;  ///< empty before the first
};

}  // namespace assay::conformance
