#include "assay/conformance/sweep/repetition.hpp"

#include "judge/run_kernel.hpp"

namespace assay::conformance {

Repetition repeat(const std::function<bool()>& fails, std::int64_t steady_runs, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  Repetition result;
  do {
    ++result.runs;
    if (fails()) ++result.failures;
  } while (result.runs < (result.always_fails() ? steady_runs : unsteady_runs) &&
           seconds_since(start) < seconds);
  return result;
}

std::string text_of(const Repetition& repetition) {
  const std::string failures =
      repetition.failures == 0 ? "none" : std::to_string(repetition.failures);
  return "in " + failures + " of " + std::to_string(repetition.runs) + " runs";
}

}  // namespace assay::conformance
