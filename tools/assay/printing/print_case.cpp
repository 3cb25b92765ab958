#include "printing/print_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/conformance/sweep/repetition.hpp"
#include "printing/table.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Finding;
using conformance::TensorReport;

/// Prints integers without a fraction, and other numbers with six digits.
std::string text_of(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.6g}", value);
}

std::string place(const Finding& at) {
  std::string text;
  const auto add = [&](const char* name, std::int64_t index) {
    if (index >= 0) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, index);
  };
  add("b", at.b);
  add("n", at.n);
  add("s", at.s);
  add("d", at.d);
  return text.empty() ? "-" : text;
}

/// Formats the number of judged rows, such as "12 of 64 (sums of 64)". In the first rows every
/// element was judged. In the other rows only tile sums (sums over the rows of a tile) were judged.
std::string rows_text(const TensorReport& t) {
  const std::string sums = t.rows_summed > 0 ? fmt::format(" (sums of {})", t.rows_summed) : "";
  return fmt::format("{} of {}{}", t.rows_judged, t.rows_total, sums);
}

void print_tensors(const std::vector<TensorReport>& tensors, std::ostream& out) {
  Table table({"tensor", "rows judged", "worst error/tau", "at", "R", "R_max", "bias", "t",
               "tau/|ref|", "controls", "exempt"});
  for (const TensorReport& t : tensors)
    table.add({t.name, rows_text(t), ratio_text(t.worst), place(t.worst_at),
               fmt::format("{:.4f}", t.rms), fmt::format("{:.4f}", t.rms_limit),
               fmt::format("{:+.4f}", t.bias), fmt::format("{:+.2f}", t.bias_t),
               fmt::format("{:.3g}", t.median_tau_over_ref), t.controls, std::to_string(t.exempt)});
  if (!table.empty()) table.print(out, "  ");
  for (const TensorReport& t : tensors)
    if (t.rows_blind > 0)
      out << fmt::format(
          "  in {} of {} rows of {}, an output of zeros would "
          "pass\n",
          t.rows_blind, t.rows_nonzero, t.name);
}

void print_terms(const std::vector<TensorReport>& tensors, std::ostream& out) {
  for (const TensorReport& t : tensors) {
    if (t.terms.empty()) continue;
    auto terms = t.terms;
    std::stable_sort(terms.begin(), terms.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    out << "  tau of " << t.name << " there:";
    for (const auto& [name, share] : terms)
      if (share >= 0.005) out << fmt::format(" {} {:.0f}%", name, 100 * share);
    out << '\n';
  }
}

}  // namespace

std::string ratio_text(double ratio) {
  return ratio < std::numeric_limits<double>::max() ? fmt::format("{:.4g}", ratio) : "inf";
}

void print_case(const CaseReport& report, const std::string& program, std::ostream& out,
                Metrics metrics) {
  out << fmt::format("{}  ({}, case {})\n", spec::to_string(report.verdict.value()),
                     report.implementation, report.id);
  out << "  " << conformance::replay_command(report, program) << '\n';
  if (const std::string reason = conformance::reason_of(report); !reason.empty())
    out << "  " << reason << '\n';
  if (!report.note.empty()) out << "  note: " << report.note << '\n';
  print_tensors(report.tensors, out);
  print_terms(report.tensors, out);
  for (const Finding& finding : report.findings)
    out << fmt::format("  {}{}{}: {}\n", spec::to_string(finding.rule),
                       finding.tensor.empty() ? "" : " ", finding.tensor,
                       sentence_of(finding, report));
  if (metrics == Metrics::shown)
    for (const auto& metric : report.metrics)
      out << fmt::format("  {} = {} {}\n", metric.name, text_of(metric.value), metric.unit);
  else if (!report.metrics.empty())
    out << fmt::format("  {} of the implementation: --verbose prints them\n",
                       conformance::counted(std::ssize(report.metrics), "metric"));
  out << fmt::format("  {:.3g} s in the implementation, {:.3g} s in total\n",
                     report.seconds_implementation, report.seconds_total);
}

namespace {

/// If a repeated case failed in all runs except one, describes this pattern: it is typical of a
/// kernel that keeps state between calls. Otherwise returns an empty string.
const char* all_but_one(const conformance::ShrunkCase& shrunk) {
  constexpr std::int64_t many = 10;
  const bool is_so = shrunk.again >= many && shrunk.failed_again == shrunk.again - 1;
  return is_so ? ", in all but one run (typical of state kept between calls)" : "";
}

}  // namespace

std::string declared_text(const conformance::ShrunkCase& shrunk) {
  if (shrunk.of_cause <= 1)
    return fmt::format(
        "if the numerics were declared as {}, the case would conform: does the "
        "kernel compute this way?",
        shrunk.declared);
  const std::string run =
      shrunk.run_declared == shrunk.of_cause
          ? ""
          : fmt::format(" (the time limit allowed to run {} of them again)", shrunk.run_declared);
  return fmt::format(
      "if the numerics were declared as {}, {} of the {} failing cases of this cause would "
      "conform{}: does the kernel compute this way?",
      shrunk.declared, shrunk.conform_declared, shrunk.of_cause, run);
}

std::string end_text(const conformance::ShrunkCase& shrunk) {
  using conformance::ShrinkEnd;
  const std::string untried =
      shrunk.untried.empty()
          ? ""
          : fmt::format("; these fields were not tried: {}", fmt::join(shrunk.untried, ", "));
  const std::string after = fmt::format("after {} runs ", shrunk.runs);
  switch (shrunk.end) {
    case ShrinkEnd::smallest:
      return after + "no smaller case fails in the same way";
    case ShrinkEnd::runs:
      return after + "the limit of runs ended the search: a smaller case may fail, too" + untried;
    case ShrinkEnd::seconds:
      return after + "the time limit ended the search: a smaller case may fail, too" + untried;
    case ShrinkEnd::stopped:
      return after + "the search was stopped" + untried;
    case ShrinkEnd::unsteady:
      return shrunk.failed_again < shrunk.again
                 ? fmt::format("run again alone, the case fails {}{}: it is not shrunk",
                               text_of(conformance::Repetition{shrunk.again, shrunk.failed_again}),
                               all_but_one(shrunk))
                 : after + "smaller cases failed, too, but not every time when run alone";
  }
  return after;
}

}  // namespace assay::cli
