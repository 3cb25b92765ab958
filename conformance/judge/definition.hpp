#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::conformance {

/// A row of an output, computed by the definition (the reference in high precision). `value` is the
/// result in double; `rest` is the part of the result that double cannot represent.
struct DefinedRow {
  std::vector<double> value, rest;
  double share = 0, additive = 0;  ///< the radius is share * (radius in double) + additive
};
/// Returns the row. Returns nothing if an element is not finite, because double-double then does
/// not suffice.
std::optional<DefinedRow> defined_row(const std::vector<reference::DoubleDouble>& row);
DefinedRow defined_row(const std::vector<reference::SeventyFive>& row);
/// Returns a row of exactly computed sums of products.
DefinedRow defined_row(const std::vector<reference::Wide>& row);

/// A list of rows, each with the name of its tensor.
using DefinedRows = std::vector<std::pair<std::string, DefinedRow>>;

/// The reference of an operator in high precision. It computes the outputs of a case row by row: in
/// double-double, in 75 digits, or exactly. Thread-safe.
class Definition {
 public:
  virtual ~Definition() = default;
  /// Returns row `number` (in the order of Extents::row) of `tensor`. Also returns rows of other
  /// tensors that result from the same computation.
  virtual DefinedRows row(const std::string& tensor, std::int64_t number) = 0;
  /// Like `row`, but computes the rows in double-double, in a small fraction of the time. Omits
  /// rows for which double-double does not suffice.
  virtual DefinedRows quick_row(const std::string& /*tensor*/, std::int64_t /*number*/) {
    return {};
  }
  /// Returns the approximate cost of a row, as a number of multiplications in 75 digits.
  virtual std::int64_t products(const std::string& tensor) const = 0;
};

}  // namespace assay::conformance
