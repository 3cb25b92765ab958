#include "assay/conformance/result/regimes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/spec/regime.hpp"

namespace assay::conformance {
namespace {

/// All regimes (branches of a kernel's tiling) that kernels reported for one operator.
struct Axis {
  std::string operator_name;
  std::vector<Regime> regimes;
  std::map<std::string_view, std::size_t> places;          ///< name -> index in the list
  std::set<std::pair<std::size_t, std::size_t>> together;  ///< pairs seen in one case

  std::size_t place_of(const std::string& name) {
    const auto [place, is_new] = places.emplace(name, regimes.size());
    if (is_new) regimes.push_back({.operator_name = operator_name, .name = name, .not_with = {}});
    return place->second;
  }
};

void count(Axis& axis, const CaseReport& report) {
  std::set<std::size_t> taken;
  for (const spec::Metric& metric : report.metrics) {
    if (metric.unit != spec::regime_unit) continue;
    const std::size_t place = axis.place_of(metric.name);
    if (metric.value > 0) taken.insert(place);
  }
  const bool fails = contribution(report.verdict) == ExitCode::nonconformant;
  for (const std::size_t one : taken) {
    ++axis.regimes[one].cases;
    if (fails) ++axis.regimes[one].failing;
    for (const std::size_t other : taken) axis.together.emplace(one, other);
  }
}

void find_strangers(Axis& axis) {
  const std::size_t count = axis.regimes.size();
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t other = 0; other < count; ++other)
      if (axis.regimes[one].cases > 0 && axis.regimes[other].cases > 0 &&
          !axis.together.contains({one, other}))
        axis.regimes[one].not_with.push_back(axis.regimes[other].name);
}

}  // namespace

void sort_out_regimes(CaseReport& report) {
  std::set<std::string> names;
  Fact first;
  const std::size_t removed = std::erase_if(report.metrics, [&](const spec::Metric& metric) {
    if (metric.unit != spec::regime_unit) return false;
    const std::string invalid = spec::fault_of_regime(metric);
    Fact fault;
    if (!invalid.empty())
      fault = {FactKind::quoted, invalid};
    else if (!names.insert(metric.name).second)
      fault = FactKind::reported_twice;
    if (!fault.empty() && first.empty())
      first = {FactKind::regimes_ignored, excerpt(metric.name, 100), metric.value, fault};
    return !fault.empty();
  });
  if (removed == 0) return;
  first.values.emplace_back(static_cast<std::int64_t>(removed));
  report.findings.push_back({.rule = FindingRule::note, .fact = std::move(first)});
}

std::vector<Regime> regimes_of(const std::vector<CaseReport>& cases) {
  std::vector<Axis> axes;
  for (const CaseReport& report : cases) {
    if (!report.value_case) continue;
    auto axis = std::ranges::find(axes, report.operator_name, &Axis::operator_name);
    if (axis == axes.end()) {
      axes.push_back({.operator_name = report.operator_name});
      axis = axes.end() - 1;
    }
    count(*axis, report);
  }
  std::vector<Regime> all;
  for (Axis& axis : axes) {
    find_strangers(axis);
    std::ranges::move(axis.regimes, std::back_inserter(all));
  }
  return all;
}

}  // namespace assay::conformance
