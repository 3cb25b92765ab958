#include "printing/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/result/printable.hpp"

namespace assay::cli {
namespace {

using conformance::counted;
using conformance::ExitCode;
using conformance::Results;

/// Describes the result of the judged cases, as the first part of the last line.
std::string finding(const Results& results, const Tally& tally, ExitCode code) {
  const auto numerically = results.summary.value_cases - tally.unclear_numerically;
  const std::string failures = counted(tally.failing, "failure");
  if (code == ExitCode::conformant)
    return fmt::format("{}, {} judged numerically, {}{}", counted(tally.judged(), "case"),
                       numerically, failures,
                       tally.failing > 0 ? ", all of them known "
                                           "failures"
                                         : "");
  if (code == ExitCode::nonconformant)
    return fmt::format("{} of {} judged cases fail, {} judged numerically", tally.failing,
                       tally.judged(), numerically);
  return fmt::format("{} judged, {} of them numerically, {}", counted(tally.judged(), "case"),
                     numerically, failures);
}

std::string verdict_text(ExitCode code) {
  switch (code) {
    case ExitCode::conformant:
      return " conforms";
    case ExitCode::nonconformant:
      return " does not conform";
    case ExitCode::usage:
      return " was not judged on every case, because some cases cannot be used";
    case ExitCode::not_conclusive:
      break;
  }
  return ": not conclusive";
}

std::string name_of(const Results& results) {
  return results.summary.implementation.empty() ? "The implementation"
                                                : results.summary.implementation;
}

/// Describes the other cases: ", 2 without a clear verdict, 7 not applicable, 20 not run".
std::string not_judged(const conformance::Summary& summary, const Tally& tally) {
  std::string text;
  if (tally.unclear > 0) text += fmt::format(", {} without a clear verdict", tally.unclear);
  if (tally.not_applicable > 0) text += fmt::format(", {} not applicable", tally.not_applicable);
  if (summary.cases < summary.planned)
    text += fmt::format(", {} not run", summary.planned - summary.cases);
  return text;
}

/// Describes the failing case and the most likely cause. Ends with the command that runs the case
/// again, so that a user can copy it.
std::string first_failure(const Results& results, const std::string& program) {
  const conformance::CaseReport& failing = results.cases.back();
  const std::vector<conformance::Cause> causes = conformance::causes_of(results.cases, {});
  std::string text = fmt::format("case {} of {} fails ({:.1f} s)", results.summary.cases,
                                 results.summary.planned, results.summary.seconds);
  if (!causes.empty()) text += ": " + pattern_text(causes.front(), results.cases);
  if (!causes.empty() && !causes.front().stage.empty()) text += "; stage: " + causes.front().stage;
  return text + "; " + conformance::replay_command(failing, program);
}

}  // namespace

Tally tally_of(const Results& results) {
  Tally tally;
  for (const conformance::CaseReport& report : results.cases) {
    if (report.verdict == conformance::Verdict::not_applicable)
      ++tally.not_applicable;
    else if (conformance::contribution(report.verdict) == ExitCode::conformant)
      ++tally.conforming;
    else if (conformance::contribution(report.verdict) == ExitCode::nonconformant)
      ++tally.failing;
    else
      ++tally.unclear, tally.unclear_numerically += report.value_case ? 1 : 0;
  }
  return tally;
}

std::string conclusion(const Results& results, ExitCode code) {
  const Tally tally = tally_of(results);
  return name_of(results) + verdict_text(code) + ": " + finding(results, tally, code) +
         not_judged(results.summary, tally) + fmt::format(" ({:.0f} s).", results.summary.seconds);
}

std::string first_answer(const Results& results, ExitCode code, const std::string& program) {
  const Tally tally = tally_of(results);
  std::string found = code == ExitCode::nonconformant
                          ? first_failure(results, program)
                          : finding(results, tally, code) + not_judged(results.summary, tally) +
                                fmt::format(" ({:.1f} s).", results.summary.seconds);
  std::ranges::replace(found, '\n', ' ');  // a message of the kernel may have several lines
  return name_of(results) + verdict_text(code) + ": " + found;
}

std::string conclusion(const conformance::CaseReport& report) {
  if (report.verdict == conformance::Verdict::not_applicable)
    return fmt::format("{} was not judged: this case does not apply to it.", report.implementation);
  if (report.verdict == conformance::Verdict::usage_error)
    return fmt::format("{} was not judged: this case cannot be used.", report.implementation);
  return fmt::format("{}{} on this case.", report.implementation,
                     verdict_text(conformance::contribution(report.verdict)));
}

}  // namespace assay::cli
