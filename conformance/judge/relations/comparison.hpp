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

/// Functions that compare the outputs of related runs, for any operator.
namespace assay::conformance {

/// The allowed difference between the runs. bits: all bits must be equal if the kernel promises a
/// fixed order of additions; otherwise like `bound`. bound: the difference is at most the sum of
/// the tolerances of the runs.
enum class Agreement : std::uint8_t { bits, bound };

/// The values of one tensor in two runs, and the limits of their differences.
struct Compared {
  std::string_view tensor;
  const std::vector<double>&actual, &predicted;
  std::span<const double> tau, tau_det;  ///< empty: every bit must agree
  spec::Extents extents;
};

/// Adds to the report how well the values agree, and the first few differences. `sentence`
/// describes the relation in words.
Decision compare_numbers(const Compared& compared, std::string_view sentence, CaseReport& report);

/// Returns whether all elements of all outputs are 0.
inline bool are_zero(const OutputValues& outputs) {
  return std::ranges::all_of(outputs, [](const auto& one) {
    return std::ranges::all_of(one.second, [](double x) { return x == 0; });
  });
}

/// Returns the tolerances of one run for a comparison with another run: `tau` plus the radius
/// (error limit of the reference). In exempt rows, which are not judged, the tolerance is infinite.
std::vector<double> with_radius(const Entries<double>& tau, const Expectation& e);

/// Two reasons why the agreement of runs may not prove that the kernel is correct: all runs are the
/// same call, or all their results are zero.
struct AgreeingRuns {
  bool are_one_run, are_zero;
};
/// Returns `conforms`. If the agreement proves nothing, returns `vacuous` and adds a note.
Decision decision_of(const AgreeingRuns& runs, CaseReport& report);

/// Returns `not_applicable`, and adds a note that the relation holds only for problems in `domain`.
Decision outside(std::string_view domain, CaseReport& report);

}  // namespace assay::conformance
