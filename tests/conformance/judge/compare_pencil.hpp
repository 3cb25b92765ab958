#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "judge/decide.hpp"

namespace assay::conformance::testing {

using spec::DType;

/// A comparison of outputs with expected values that is small enough to compute by hand. All rows
/// belong to one head, and all are judged.
struct Pencil {
  explicit Pencil(std::int64_t rows, std::int64_t dim, DType io = DType::fp32,
                  const spec::Numerics& numerics = {.fused = false})
      : arithmetic(numerics, io) {
    e.name = "dk";
    e.extents = {.batch = 1, .heads = 1, .seq = rows, .dim = dim};
    e.rows.resize(static_cast<std::size_t>(rows));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    e.resize(rows);
    for (std::size_t k = 0; k < e.value.size(); ++k) {
      e.value[k] = 8;
      e.tau[k] = 4, e.tau_det[k] = 6, e.sigma[k] = 1;
    }
    std::ranges::fill(e.share, 1 / static_cast<double>(dim));
    actual.assign(e.value.begin(), e.value.end());
  }

  Decision judge() { return compare(e, actual, arithmetic, report = {}, findings = {}); }
  double yardstick(std::string_view name) {
    judge();
    return std::ranges::find(
               report.yardsticks, name, [](const auto& one) -> const auto& { return one.first; })
        ->second;
  }
  /// Returns the names of the rules of all findings except notes.
  std::set<std::string> rules() const {
    std::set<std::string> rules;
    for (const Finding& finding : findings)
      if (finding.rule != FindingRule::note) rules.emplace(spec::to_string(finding.rule));
    return rules;
  }

  Arithmetic arithmetic;
  Expectation e;
  std::vector<double> actual;
  TensorReport report;
  std::vector<Finding> findings;
};

}  // namespace assay::conformance::testing
