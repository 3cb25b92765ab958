#include "stored/changes.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::ExitCode;
using conformance::Results;
using conformance::Verdict;

/// What a sweep ends with goes from the first to the last.
int weight(Verdict verdict) {
  switch (conformance::contribution(verdict)) {
    case ExitCode::conformant:
      return 0;
    case ExitCode::not_conclusive:
      return 1;
    default:
      return 2;
  }
}

Change change_of(Verdict before, Verdict now) {
  if (weight(now) > weight(before)) return Change::regression;
  return weight(now) < weight(before) ? Change::improvement : Change::other;
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
  for (const CaseReport& report : now.cases) {
    const auto found = earlier.find(report.id);
    if (found == earlier.end()) {
      ++changes.only_now;
      continue;
    }
    ++changes.common;
    const Verdict then = found->second->verdict.value, today = report.verdict.value;
    if (then != today) changes.cases.push_back({change_of(then, today), found->second, &report});
  }
  changes.only_before = std::ssize(before.cases) - changes.common;
  std::ranges::stable_sort(changes.cases, {}, &ChangedCase::change);
  return changes;
}

std::string to_json(const Changes& changes, const Results& now, const Results& before) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const ChangedCase& one : changes.cases)
    cases.push_back({{"change", spec::to_string(one.change)},
                     {"id", one.now->id},
                     {"operator", one.now->operator_name},
                     {"command_line", one.now->command_line},
                     {"before", spec::to_string(one.before->verdict.value)},
                     {"now", spec::to_string(one.now->verdict.value)},
                     {"evidence", one.now->verdict.evidence}});
  const nlohmann::ordered_json json = {{"before", run_of(before)},
                                       {"now", run_of(now)},
                                       {"common", changes.common},
                                       {"only_now", changes.only_now},
                                       {"only_before", changes.only_before},
                                       {"regressions", changes.count(Change::regression)},
                                       {"improvements", changes.count(Change::improvement)},
                                       {"others", changes.count(Change::other)},
                                       {"cases", cases}};
  return json.dump(1) + '\n';
}

}  // namespace assay::cli
