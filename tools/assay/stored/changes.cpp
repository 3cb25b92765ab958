#include "stored/changes.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/conformance/report/sentences.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::ExitCode;
using conformance::Results;
using conformance::Verdict;

constexpr int gravest = 2;

/// Returns the severity of the exit code that a verdict leads to. A larger number is more severe.
int weight(Verdict verdict) {
  switch (conformance::contribution(verdict)) {
    case ExitCode::conformant:
      return 0;
    case ExitCode::not_conclusive:
      return 1;
    default:
      return gravest;
  }
}

/// Returns whether the verdict is a clear result: the implementation passes or fails.
bool is_decided(Verdict verdict) {
  return verdict != Verdict::not_applicable &&
         conformance::contribution(verdict) != ExitCode::not_conclusive;
}

/// Returns whether a case was judged in the earlier report but not in the new one. This is not an
/// improvement, even if the case failed earlier.
bool is_lost(const CaseReport& before, const CaseReport& now) {
  const bool by_numbers = before.value_case && !now.value_case && weight(now.verdict) == 0;
  return is_decided(before.verdict) && (!is_decided(now.verdict) || by_numbers);
}

ChangedCase changed(const CaseReport& before, const CaseReport& now) {
  const int then = weight(before.verdict), today = weight(now.verdict);
  if (today > then) return {Change::regression, "worse", &before, &now};
  if (is_lost(before, now)) return {Change::regression, "no longer judged", &before, &now};
  return {today < then ? Change::improvement : Change::other, "", &before, &now};
}

std::string_view verdict_of(const CaseReport& report) {
  return spec::to_string(report.verdict.value());
}

nlohmann::ordered_json run_of(const Results& results) {
  return {{"implementation", results.environment.implementation},
          {"started", results.environment.started},
          {"cases", results.cases.size()}};
}

}  // namespace

std::int64_t Changes::count(Change change) const {
  return std::ranges::count(cases, change, &ChangedCase::change);
}

Changes changes_between(const Results& now, const Results& before) {
  Changes changes;
  std::map<std::string, const CaseReport*> earlier;
  for (const CaseReport& report : before.cases) earlier[report.id] = &report;
  std::set<std::string_view> met;
  for (const CaseReport& report : now.cases) {
    met.insert(report.id);
    const auto found = earlier.find(report.id);
    if (found == earlier.end()) {
      ++changes.only_now;
      if (weight(report.verdict) == gravest)
        changes.cases.push_back({Change::regression, "new", nullptr, &report});
      continue;
    }
    ++changes.common;
    const ChangedCase one = changed(*found->second, report);
    if (!one.why.empty() || one.before->verdict.value() != report.verdict.value())
      changes.cases.push_back(one);
  }
  for (const CaseReport& report : before.cases)
    if (!met.contains(report.id)) changes.only_before.push_back(&report);
  std::ranges::stable_sort(changes.cases, {}, &ChangedCase::change);
  return changes;
}

std::string to_json(const Changes& changes, const Results& now, const Results& before) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const ChangedCase& one : changes.cases)
    cases.push_back({{"change", spec::to_string(one.change)},
                     {"why", one.why},
                     {"id", one.now->id},
                     {"operator", one.now->operator_name},
                     {"command_line", one.now->command_line},
                     {"before", one.before == nullptr ? "" : verdict_of(*one.before)},
                     {"now", verdict_of(*one.now)},
                     {"evidence", evidence_of(*one.now)}});
  nlohmann::ordered_json missing = nlohmann::ordered_json::array();
  for (const CaseReport* report : changes.only_before)
    missing.push_back({{"id", report->id},
                       {"operator", report->operator_name},
                       {"command_line", report->command_line},
                       {"before", verdict_of(*report)}});
  const nlohmann::ordered_json json = {{"before", run_of(before)},
                                       {"now", run_of(now)},
                                       {"common", changes.common},
                                       {"only_now", changes.only_now},
                                       {"only_before", changes.only_before.size()},
                                       {"regressions", changes.count(Change::regression)},
                                       {"improvements", changes.count(Change::improvement)},
                                       {"others", changes.count(Change::other)},
                                       {"cases", cases},
                                       {"missing", missing}};
  return json.dump(1) + '\n';
}

}  // namespace assay::cli
