#include "assay/conformance/plan/coverage.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "assay/conformance/case/record.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/spec/operators.hpp"

namespace assay::conformance {

std::int64_t RowCoverage::accepted() const {
  return std::ranges::count_if(rows, [](const Row& row) { return row.accepted > 0; });
}

std::int64_t RowCoverage::rejected() const {
  return std::ranges::count_if(rows, [](const Row& row) { return row.rejected > 0; });
}

std::vector<std::string> RowCoverage::unexercised() const {
  std::vector<std::string> names;
  for (const Row& row : rows)
    if ((row.has_accept && row.accepted == 0) || (row.has_reject && row.rejected == 0))
      names.push_back(row.id);
    else
      for (const Way& way : row.ways)
        if (way.cases == 0) names.push_back(way.name);
  return names;
}

void RowCoverage::take(std::string_view way) {
  const auto row = std::ranges::find(rows, row_named_in(way), &Row::id);
  if (row == rows.end()) return;
  const auto found = std::ranges::find(row->ways, way, &Way::name);
  if (found != row->ways.end()) ++found->cases;
}

std::int64_t PairCoverage::admissible() const {
  return std::ranges::count_if(cells, &Cell::is_asked);
}

std::int64_t PairCoverage::covered() const {
  return std::ranges::count_if(cells,
                               [](const Cell& cell) { return cell.is_asked() && cell.cases > 0; });
}

std::int64_t PairCoverage::unreachable() const {
  return static_cast<std::int64_t>(cells.size()) - admissible();
}

std::int64_t PairCoverage::forbidden() const {
  return std::ranges::count_if(cells, [](const Cell& cell) { return !cell.forbidden_by.empty(); });
}

std::vector<std::string> PairCoverage::uncovered() const {
  std::vector<std::string> texts;
  for (const Cell& cell : cells)
    if (cell.is_asked() && cell.cases == 0) texts.push_back(cell.text());
  return texts;
}

std::size_t first_cell(const PairCoverage& coverage, std::string_view operator_name) {
  const auto first =
      std::ranges::find(coverage.cells, operator_name, &PairCoverage::Cell::operator_name);
  return static_cast<std::size_t>(first - coverage.cells.begin());
}

void append(RowCoverage& coverage, RowCoverage other) {
  std::ranges::move(other.rows, std::back_inserter(coverage.rows));
}

void append(PairCoverage& coverage, PairCoverage other) {
  std::ranges::move(other.cells, std::back_inserter(coverage.cells));
}

void complete(RowCoverage& coverage) {
  spec::for_each_operator([&]<class Op> {
    for (RowCoverage::Row& told : row_coverage<Op>().rows) {
      const auto row = std::ranges::find(coverage.rows, told.id, &RowCoverage::Row::id);
      if (row == coverage.rows.end()) continue;
      row->ways = std::move(told.ways);
      row->reason = std::move(told.reason);
    }
  });
}

PairCoverage pair_coverage_of(const RowCoverage& rows) {
  PairCoverage coverage;
  spec::for_each_operator([&]<class Op> {
    if (std::ranges::find(rows.rows, Op::constraints().front().id, &RowCoverage::Row::id) !=
        rows.rows.end())
      append(coverage, pair_coverage<Op>());
  });
  return coverage;
}

void cover(PairCoverage& coverage, const CaseReport& report) {
  if (coverage.cells.empty()) return;
  const auto cover_case = [&]<class Op> {
    if (report.operator_name != Op::name) return;
    try {
      cover(coverage, parse_case<Op>(case_words(report.command_line, Op::name)));
    } catch (const std::invalid_argument&) {
      return;
    }
  };
  spec::for_each_operator(cover_case);
}

}  // namespace assay::conformance
