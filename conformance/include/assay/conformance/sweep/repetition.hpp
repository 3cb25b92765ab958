#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace assay::conformance {

/// The result of running a failing case again: how often it ran, and how often it failed.
struct Repetition {
  std::int64_t runs = 0, failures = 0;

  bool always_fails() const { return failures == runs; }
};

/// The number of runs of a case that does not fail in every run. If a failure occurs in one of
/// seven runs on average, this number of runs shows it with a probability of 95 %.
inline constexpr std::int64_t unsteady_runs = 20;

/// Runs a failing case again: `steady_runs` times if each run fails, otherwise `unsteady_runs`
/// times. Starts no new run after `seconds`.
Repetition repeat(const std::function<bool()>& fails, std::int64_t steady_runs, double seconds);

/// Returns a text about the failures. Examples: "in 3 of 20 runs", "in none of 20 runs".
std::string text_of(const Repetition& repetition);

}  // namespace assay::conformance
