#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/report/report.hpp"
#include "judge/tile_sums.hpp"

namespace assay::conformance {

/// Rows that were computed from the definition in 113 bits.
struct Certificate {
  struct Row {
    std::int64_t number;  ///< in Extents::row
    std::vector<double> value;
  };
  std::map<std::string, std::vector<Row>> rows;  ///< by tensor

  /// Replaces value and radius of the certified rows.
  void apply(std::vector<Expectation>& expectations) const;
};

/// Errors: std::logic_error naming the first element of a certified row from which the expectation
/// is further away than its proven radius.
void require_agreement(const Expectation& expectation, const std::vector<Certificate::Row>& rows);

/// Some rows of an output tensor.
struct RowsOf {
  const std::string& tensor;
  const spec::Extents& extents;
  std::span<const std::int64_t> rows;
};

}  // namespace assay::conformance
