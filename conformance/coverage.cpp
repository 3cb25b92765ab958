#include <algorithm>

#include "assay/conformance/sweep.hpp"

namespace assay::conformance {

std::int64_t RowCoverage::accepted() const {
  return std::ranges::count_if(rows, [](const Row& row) { return row.accepted > 0; });
}

std::int64_t RowCoverage::rejected() const {
  return std::ranges::count_if(rows, [](const Row& row) { return row.rejected > 0; });
}

std::vector<std::string> RowCoverage::unexercised() const {
  std::vector<std::string> ids;
  for (const Row& row : rows)
    if ((row.has_accept && row.accepted == 0) || (row.has_reject && row.rejected == 0))
      ids.push_back(row.id);
  return ids;
}

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

template RowCoverage row_coverage<spec::FlashAttentionScoreGrad>();

}  // namespace assay::conformance
