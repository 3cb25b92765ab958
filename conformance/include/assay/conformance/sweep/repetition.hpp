#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace assay::conformance {

/// How a failing case fared when it was run again.
struct Repetition {
  std::int64_t runs = 0, failures = 0;

  bool always_fails() const { return failures == runs; }
};

/// Runs of a case that does not fail in each of them: they show one failure in seven with a
/// probability of 95 %.
inline constexpr std::int64_t unsteady_runs = 20;

/// Runs a failing case again, `steady_runs` times if it fails in each, else `unsteady_runs` times.
/// After the first run none starts later than after `seconds`.
Repetition repeat(const std::function<bool()>& fails, std::int64_t steady_runs, double seconds);

/// "in 3 of 20 runs", "in none of 20 runs".
std::string text_of(const Repetition& repetition);

}  // namespace assay::conformance
