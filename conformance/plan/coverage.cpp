#include "assay/conformance/plan/coverage.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "assay/conformance/operators.hpp"
#include "assay/spec/operators.hpp"

namespace assay::conformance {

std::int64_t RequirementCoverage::accepted() const {
  return std::ranges::count_if(
      requirements, [](const Requirement& requirement) { return requirement.accepted > 0; });
}

std::int64_t RequirementCoverage::rejected() const {
  return std::ranges::count_if(
      requirements, [](const Requirement& requirement) { return requirement.rejected > 0; });
}

std::vector<std::string> RequirementCoverage::unexercised() const {
  std::vector<std::string> names;
  for (const Requirement& requirement : requirements)
    if ((requirement.has_accept && requirement.accepted == 0) ||
        (requirement.has_reject && requirement.rejected == 0))
      names.push_back(requirement.id);
    else {
      for (const Way& way : requirement.ways)
        if (way.cases == 0) names.push_back(way.name);
      for (const On& on : requirement.on)
        if ((on.has_accept && on.accepted == 0) || (on.has_reject && on.rejected == 0))
          names.push_back(requirement.id + " on " + on.entry_point);
    }
  return names;
}

namespace {

/// Counts a case for requirement `id` and for the entry point.
void exercise(RequirementCoverage& coverage, std::string_view id, std::string_view entry_point,
              std::int64_t RequirementCoverage::Requirement::*of_all,
              std::int64_t RequirementCoverage::On::*of_one) {
  const auto requirement =
      std::ranges::find(coverage.requirements, id, &RequirementCoverage::Requirement::id);
  if (requirement == coverage.requirements.end()) return;
  if (of_all != nullptr) ++((*requirement).*of_all);
  const auto on =
      std::ranges::find(requirement->on, entry_point, &RequirementCoverage::On::entry_point);
  if (on != requirement->on.end()) ++((*on).*of_one);
}

}  // namespace

void RequirementCoverage::accept(std::string_view id, std::string_view entry_point) {
  exercise(*this, id, entry_point, &Requirement::accepted, &On::accepted);
}

void RequirementCoverage::reject(std::string_view id, std::string_view entry_point) {
  exercise(*this, id, entry_point, &Requirement::rejected, &On::rejected);
}

void take_entry_point(RequirementCoverage& coverage, const CaseReport& report) {
  const auto entry_point =
      std::ranges::find(report.fields, "entry_point", [](const auto& f) { return f.first; });
  if (entry_point == report.fields.end()) return;
  if (report.verdict == Verdict::conforms)
    for (const std::string& id : report.accepted_requirements)
      exercise(coverage, id, entry_point->second, nullptr, &RequirementCoverage::On::accepted);
  if (report.verdict == Verdict::rejected_as_specified ||
      report.verdict == Verdict::rejected_other_code)
    exercise(coverage, report.violated_requirement, entry_point->second, nullptr,
             &RequirementCoverage::On::rejected);
}

void RequirementCoverage::take(std::string_view way) {
  const auto requirement =
      std::ranges::find(requirements, requirement_named_in(way), &Requirement::id);
  if (requirement == requirements.end()) return;
  const auto found = std::ranges::find(requirement->ways, way, &Way::name);
  if (found != requirement->ways.end()) ++found->cases;
}

std::int64_t PairCoverage::Triples::covered() const {
  return admissible - std::ranges::count(open, true);
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

std::int64_t PairCoverage::admissible_triples() const {
  std::int64_t count = 0;
  for (const Triples& of_operator : triples) count += of_operator.admissible;
  return count;
}

std::int64_t PairCoverage::covered_triples() const {
  std::int64_t count = 0;
  for (const Triples& of_operator : triples) count += of_operator.covered();
  return count;
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

void append(RequirementCoverage& coverage, RequirementCoverage other) {
  std::ranges::move(other.requirements, std::back_inserter(coverage.requirements));
}

void append(PairCoverage& coverage, PairCoverage other) {
  std::ranges::move(other.cells, std::back_inserter(coverage.cells));
  std::ranges::move(other.triples, std::back_inserter(coverage.triples));
}

void complete(RequirementCoverage& coverage) {
  spec::for_each_operator([&]<class Op> {
    for (RequirementCoverage::Requirement& planned : requirement_coverage<Op>().requirements) {
      const auto requirement = std::ranges::find(coverage.requirements, planned.id,
                                                 &RequirementCoverage::Requirement::id);
      if (requirement == coverage.requirements.end()) continue;
      requirement->ways = std::move(planned.ways);
      requirement->on = std::move(planned.on);
      requirement->reason = std::move(planned.reason);
    }
  });
}

PairCoverage pair_coverage_of(const RequirementCoverage& requirements) {
  PairCoverage coverage;
  spec::for_each_operator([&]<class Op> {
    if (std::ranges::find(requirements.requirements, Op::requirements().front().id,
                          &RequirementCoverage::Requirement::id) != requirements.requirements.end())
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
