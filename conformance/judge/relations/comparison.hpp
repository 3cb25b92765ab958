#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"
#include "judge/relations/trial.hpp"

/// Compares the outputs of related runs, for any operator.
namespace assay::conformance {

/// How closely the runs must agree. bits: in every bit if the kernel promises a fixed order of
/// additions, otherwise as with `bound`. bound: within the sum of the tolerances of the runs.
enum class Agreement : std::uint8_t { bits, bound };

/// Values of one tensor that must agree, and the limits of their differences.
struct Compared {
  std::string_view tensor;
  const std::vector<double>&actual, &predicted;
  std::span<const double> tau, tau_det;  ///< empty: every bit must agree
  spec::Extents extents;
};

/// Adds the measured agreement and the first few differences to the report. `sentence` describes
/// the relation in words.
Decision compare_numbers(const Compared& compared, std::string_view sentence, CaseReport& report);

/// Returns whether all elements of all outputs are 0.
inline bool are_zero(const OutputValues& outputs) {
  return std::ranges::all_of(outputs, [](const auto& one) {
    return std::ranges::all_of(one.second, [](double x) { return x == 0; });
  });
}

/// Returns the tolerances of one run for a comparison with another run: `tau` plus the radius of
/// the reference, and infinity in exempt rows.
std::vector<double> with_radius(const Entries<double>& tau, const Expectation& e);

/// Reasons why the agreement of runs may prove nothing: all runs are the same call, or all their
/// results are zero.
struct AgreeingRuns {
  bool are_one_run, are_zero;
};
/// Returns `conforms`, or `vacuous` with a note if the agreement proves nothing.
Decision decision_of(const AgreeingRuns& runs, CaseReport& report);

/// Returns `not_applicable` with a note that the relation holds only for problems in its `domain`.
Decision outside(std::string_view domain, CaseReport& report);

}  // namespace assay::conformance
