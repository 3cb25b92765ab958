#include "assay/conformance/coverage.hpp"

#include <algorithm>
#include <stdexcept>

#include "assay/conformance/record.hpp"

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

std::int64_t PairCoverage::admissible() const {
  return std::ranges::count_if(cells, [](const Cell& cell) { return cell.forbidden_by.empty(); });
}

std::int64_t PairCoverage::covered() const {
  return std::ranges::count_if(
      cells, [](const Cell& cell) { return cell.forbidden_by.empty() && cell.cases > 0; });
}

std::int64_t PairCoverage::unreachable() const {
  return static_cast<std::int64_t>(cells.size()) - admissible();
}

std::vector<std::string> PairCoverage::uncovered() const {
  std::vector<std::string> texts;
  for (const Cell& cell : cells)
    if (cell.forbidden_by.empty() && cell.cases == 0) texts.push_back(cell.text());
  return texts;
}

void cover(PairCoverage& coverage, const CaseReport& report) {
  using Op = spec::FlashAttentionScoreGrad;
  if (report.operator_name != Op::name || coverage.cells.empty()) return;
  try {
    cover(coverage, parse_case<Op>(case_words(report.command_line, Op::name)));
  } catch (const std::invalid_argument&) {
    return;
  }
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
