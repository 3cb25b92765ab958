#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::conformance {

/// A row of an output, computed from the definition. `value` is the result in double; `rest` is the
/// part of the result that double cannot represent.
struct DefinedRow {
  std::vector<double> value, rest;
  double share = 0, additive = 0;  ///< the radius is share * (radius in double) + additive
};
/// Returns the row, or nothing if an element is not finite: double-double is then not enough.
std::optional<DefinedRow> defined_row(const std::vector<reference::DoubleDouble>& row);
DefinedRow defined_row(const std::vector<reference::SeventyFive>& row);
/// Returns an exact row, whose elements are sums of products.
DefinedRow defined_row(const std::vector<reference::Wide>& row);

/// A list of rows, each with the name of its tensor.
using DefinedRows = std::vector<std::pair<std::string, DefinedRow>>;

/// Computes the outputs of a case from the definition, one row at a time: in double-double, in 75
/// digits or exactly. Thread-safe.
class Definition {
 public:
  virtual ~Definition() = default;
  /// Returns row `number` (as in Extents::row) of `tensor`, and the rows of other tensors that the
  /// same computation gives.
  virtual DefinedRows row(const std::string& tensor, std::int64_t number) = 0;
  /// Returns the same rows in double-double, which takes a small fraction of the time. Leaves out
  /// rows for which double-double is not enough.
  virtual DefinedRows quick_row(const std::string& /*tensor*/, std::int64_t /*number*/) {
    return {};
  }
  /// Returns the approximate cost of such a row, as a number of multiplications in 75 digits.
  virtual std::int64_t products(const std::string& tensor) const = 0;
};

}  // namespace assay::conformance
