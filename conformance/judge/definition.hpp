#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::conformance {

/// A row of an output by its definition: in double, and what double leaves of it.
struct DefinedRow {
  std::vector<double> value, rest;
  double share = 0, beside = 0;  ///< its radius: a share of that of double, and what is beside it
};
/// Nothing where double-double does not reach: where an element is not finite.
std::optional<DefinedRow> defined_row(const std::vector<reference::DoubleDouble>& row);
DefinedRow defined_row(const std::vector<reference::SeventyFive>& row);
/// Of sums of products, without error.
DefinedRow defined_row(const std::vector<reference::Wide>& row);

/// By the names of their tensors.
using DefinedRows = std::vector<std::pair<std::string, DefinedRow>>;

/// What the outputs of a case are by definition, in double-double, 75 digits or without error, one
/// row at a time.
/// Rows may be asked for from several threads.
class Definition {
 public:
  virtual ~Definition() = default;
  /// Row `number`, as of Extents::row, of `tensor`, and of the tensors that are computed with it.
  virtual DefinedRows row(const std::string& tensor, std::int64_t number) = 0;
  /// The same in double-double, which takes a small part of the time; without those that it does
  /// not reach.
  virtual DefinedRows quick_row(const std::string& /*tensor*/, std::int64_t /*number*/) {
    return {};
  }
  /// Multiplications in 75 digits that take as long as such a row, roughly.
  virtual std::int64_t products(const std::string& tensor) const = 0;
};

}  // namespace assay::conformance
