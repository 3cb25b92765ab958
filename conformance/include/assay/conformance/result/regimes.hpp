#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// A regime: a branch of the kernel's tiling, which the kernel reports itself (spec::regime_unit).
/// The struct also counts the numerically judged cases in which the branch ran.
struct Regime {
  std::string operator_name, name;
  std::int64_t cases = 0;             ///< cases that took it
  std::int64_t failing = 0;           ///< failing ones of them
  std::vector<std::string> not_with;  ///< regimes of other cases that none of these took
};

/// Removes metrics that are invalid regimes (names of tiling branches, see spec::fault_of_regime),
/// and metrics with a name that the report already has. Adds a finding about them.
void sort_out_regimes(CaseReport& report);

/// Returns the regimes (branches of a kernel's tiling) of every operator, in the order in which
/// they first occur in the cases.
std::vector<Regime> regimes_of(const std::vector<CaseReport>& cases);

}  // namespace assay::conformance
