#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/sweep/repetition.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "judge/judge_case.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace detail {

inline bool fails(const CaseReport& report) {
  return contribution(report.verdict) == ExitCode::nonconformant;
}

/// Returns the last case before index `place` for which the kernel ran; null if there is none.
template <class Op>
const Case<Op>* call_before(std::span<const Case<Op>> cases, std::size_t place) {
  while (place-- > 0)
    if (cases[place].track != Track::arguments) return &cases[place];
  return nullptr;
}

/// Runs a failing case again, alone, on a new instance of the kernel. If the case then passes, runs
/// it once more after the case `before`. Returns how often the case failed; nothing if it always
/// fails alone.
template <class Op>
std::optional<FailedAgain> unsteadiness(const Case<Op>& c, const Case<Op>* before,
                                        const MakeFresh<Op>& fresh, double seconds) {
  const auto alone = fresh();
  const Repetition seen =
      conformance::repeat([&] { return fails(judge_case(c, *alone)); }, 1, seconds);
  if (seen.always_fails()) return {};
  FailedAgain again{.runs = seen.runs, .failures = seen.failures};
  if (again.failures > 0 || before == nullptr) return again;
  const auto other = fresh();
  judge_case(*before, *other);
  again.before = command_line(*before);
  again.fails_after = fails(judge_case(c, *other));
  return again;
}

}  // namespace detail

template <class Op>
SweptCase<Op> Sweep::call(std::span<const Case<Op>> cases, std::size_t place,
                          spec::Implementation<Op>& kernel,
                          std::unique_ptr<PreparedCase<Op>> made) {
  const Case<Op>& c = cases[place];
  SweptCase<Op> swept{.place = place};
  swept.skipped = detail::not_asked(c, kernel);
  if (swept.skipped) return swept;
  if (control_.finished) swept.earlier = earlier(case_id(command_line(c)));
  if (swept.earlier != nullptr) return swept;
  swept.steps.emplace(c, std::move(made));
  swept.steps->call(kernel);
  return swept;
}

template <class Op>
void Sweep::conclude(std::span<const Case<Op>> cases, SweptCase<Op> swept,
                     spec::Implementation<Op>& kernel, const MakeFresh<Op>& fresh) {
  if (ended_) return;
  if (swept.skipped) return skip(*swept.skipped);
  if (swept.earlier != nullptr) return add(*swept.earlier, &SweepListener::on_resumed);
  CaseReport report = swept.steps->conclude(kernel);
  if (fresh) repeat(cases, swept.place, fresh, report);
  add(report);
}

/// Repeats a failing case. Does nothing for a case in which only phase 1 (argument check) ran, and
/// for a case that would take too long.
template <class Op>
void Sweep::repeat(std::span<const Case<Op>> cases, std::size_t failing, const MakeFresh<Op>& fresh,
                   CaseReport& report) {
  const Case<Op>& c = cases[failing];
  const double left = control_.repeat_seconds - repeat_seconds_;
  if (!detail::fails(report) || c.track == Track::arguments || 2 * report.seconds_total > left)
    return;
  const auto start = std::chrono::steady_clock::now();
  std::optional<FailedAgain> again;
  try {
    again = detail::unsteadiness(c, detail::call_before(cases, failing), fresh, left);
  } catch (const std::exception& failure) {
    again = FailedAgain{.trouble = failure.what()};
  }
  if (again)
    report.findings.insert(report.findings.begin(),
                           {.rule = FindingRule::repeat, .again = std::move(again)});
  repeat_seconds_ += seconds_since(start);
}

template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control) {
  Sweep all(listeners, control);
  append(all.summary().requirements, requirement_coverage<Op>());
  append(all.summary().pairs, pair_coverage<Op>());
  all.start(std::ssize(cases), implementation.name());
  for (std::size_t place = 0; place < cases.size() && !all.is_over(); ++place) {
    SweptCase<Op> swept = all.call(cases, place, implementation);
    swept.judge();
    all.conclude(cases, std::move(swept), implementation);
  }
  return all.finish();
}

}  // namespace assay::conformance
