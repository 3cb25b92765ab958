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

/// How the outputs of related runs are compared, whatever the operator.
namespace assay::conformance {

/// How closely the runs agree. bits: for kernels that promise a fixed order, every bit; bound:
/// within the sum of the runs' tolerances, like `bits` for kernels that promise no order.
enum class Agreement : std::uint8_t { bits, bound };

/// Numbers of one tensor that must agree, and how far they may lie from each other.
struct Compared {
  std::string_view tensor;
  const std::vector<double>&actual, &predicted;
  std::span<const double> tau, tau_det;  ///< empty: every bit must agree
  spec::Extents extents;
};

/// Adds what was measured and the first few differences to the report. `sentence` says what the
/// relation is.
Decision compare_numbers(const Compared& compared, std::string_view sentence, CaseReport& report);

/// Whether every element of the gradients is 0.
inline bool are_zero(const Gradients& gradients) {
  return std::ranges::all_of(gradients, [](const auto& one) {
    return std::ranges::all_of(one.second, [](double x) { return x == 0; });
  });
}

/// Tolerances of one run beside any other: `tau` with the radius of its reference; without limit
/// where the row is exempt.
std::vector<double> with_radius(const Entries<double>& tau, const Expectation& e);

/// What is known of runs that agree.
struct AgreeingRuns {
  bool are_one_run, are_zero;
};
/// conforms; vacuous, with a note, where the agreement says nothing.
Decision decision_of(const AgreeingRuns& runs, CaseReport& report);

/// not_applicable, with a note: the problem lies outside the relation's `domain`.
Decision outside(std::string_view domain, CaseReport& report);

}  // namespace assay::conformance
