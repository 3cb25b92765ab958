#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/conformance/result/pattern.hpp"

namespace assay::conformance {

/// A set of indices along one axis, for example the indices of failing elements.
class IndexSet {
 public:
  explicit IndexSet(std::int64_t extent) : extent_(extent) {}

  void add(std::int64_t index);
  void append(const IndexSet& others);
  /// Returns the indices in ascending order.
  std::vector<std::int64_t> members() const;

  /// Describes the set, such as a range or every n-th index. `sightings`: the number of failing
  /// elements. If this number is too small, the other indices may be missing by chance, and the
  /// result is empty. If only some indices were examined, only a range can be returned.
  std::optional<AxisPlace> place(std::string_view axis, std::int64_t sightings,
                                 bool all_looked_at) const;

 private:
  std::int64_t extent_;
  std::vector<bool> seen_;  ///< empty until the first add()
};

}  // namespace assay::conformance
