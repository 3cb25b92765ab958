#pragma once

#include <cstdint>
#include <string>

#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/verdict.hpp"

namespace assay::cli {

/// Counts the cases of a report for each kind of verdict. A case that does not apply does not count
/// as judged.
struct Tally {
  std::int64_t conforming = 0, failing = 0, unclear = 0, not_applicable = 0;
  std::int64_t unclear_numerically = 0;  ///< of `unclear`: cases with numbers, such as vacuous ones

  std::int64_t judged() const { return conforming + failing; }
};

Tally tally_of(const conformance::Results& results);

/// Returns the last line of a sweep: "optimized-a2 conforms: 3257 cases, 2034 judged numerically, 0
/// failures (71 s)."
std::string conclusion(const conformance::Results& results, conformance::ExitCode code);

/// Returns the last line of `assay gate`: "mine does not conform: case 7 of 120 fails: dq: mostly 2
/// times the expected value; assay run LINE (0.2 s)." The gate stops at the first failure, so the
/// last case in the results is the failing one. `program` replaces "assay" in the command.
std::string first_answer(const conformance::Results& results, conformance::ExitCode code,
                         const std::string& program);

/// Returns the last line of a run of one case: "optimized-a2 conforms on this case."
std::string conclusion(const conformance::CaseReport& report);

}  // namespace assay::cli
