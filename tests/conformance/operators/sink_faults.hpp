#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::conformance::testing {

/// Expects that every mutant with "sink" in its name fails in one of these cases at least, and
/// every correct one in none. Returns the number of the former.
template <class Op>
int expect_sink_faults_found(std::span<const Case<Op>> cases) {
  int faults = 0;
  for (const auto& mutant : mutants::mutants<Op>()) {
    if (mutant.name.find("sink") == std::string::npos && !mutant.healthy) continue;
    std::string failing;
    for (const Case<Op>& c : cases) {
      const auto kernel = mutant.make();
      const CaseReport report = judge_case(c, *kernel);
      if (are_numbers_wrong(report.verdict)) failing = report.command_line;
    }
    EXPECT_EQ(failing.empty(), mutant.healthy) << mutant.name << ": " << failing;
    faults += mutant.healthy ? 0 : 1;
  }
  return faults;
}

}  // namespace assay::conformance::testing
