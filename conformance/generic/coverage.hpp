#pragma once

#include <string>

#include "assay/conformance/coverage.hpp"

namespace assay::conformance {

template <class Op>
RowCoverage row_coverage() {
  RowCoverage coverage;
  for (const auto& row : Op::constraints()) {
    const bool binds = row.standing != spec::Standing::disputed;
    coverage.rows.push_back({.id = std::string(row.id),
                             .has_accept = binds && row.has(spec::Side::accept),
                             .has_reject = binds && row.has(spec::Side::reject)});
  }
  return coverage;
}

}  // namespace assay::conformance
