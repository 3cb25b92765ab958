#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// A regime of the tiling that an implementation reports, and the cases judged by numbers that took
/// it: spec::regime_unit.
struct Regime {
  std::string operator_name, name;
  std::int64_t cases = 0;             ///< that took it
  std::int64_t failing = 0;           ///< of them
  std::vector<std::string> not_with;  ///< regimes taken elsewhere, but in none of these cases
};

/// Takes metrics away that call themselves regimes and are none (spec::fault_of_regime), or that
/// the same report has already, and says so in a finding.
void sort_out_regimes(CaseReport& report);

/// Those of every operator, in the order in which the cases report them.
std::vector<Regime> regimes_of(const std::vector<CaseReport>& cases);

}  // namespace assay::conformance
