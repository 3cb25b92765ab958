#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "assay/conformance/coverage.hpp"

namespace assay::cli {

/// What cases exercised of one operator's rows and pairs of values.
struct Coverage {
  conformance::RowCoverage rows;
  conformance::PairCoverage pairs;
};

/// Every row that has a side to exercise, then the pairs: numbers, those uncovered, those unreachable by forbidding rows.
void print_coverage(const Coverage& coverage, std::ostream& out);
nlohmann::ordered_json coverage_json(const Coverage& coverage);

}  // namespace assay::cli
