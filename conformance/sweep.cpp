#include "assay/conformance/sweep.hpp"

#include <chrono>
#include <exception>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A judge that throws has said nothing of the implementation.
template <class Op>
CaseReport examined(const Case<Op>& c, spec::Implementation<Op>& implementation) {
  try {
    return examine(c, implementation);
  } catch (const std::exception& error) {
    CaseReport report;
    report.command_line = command_line(c);
    report.id = case_id(report.command_line);
    report.operator_name = Op::name;
    report.note = c.note;
    report.implementation = implementation.name();
    report.verdict = Verdict::tool_failure;
    report.findings.push_back(
        {.rule = "tool", .tensor = {}, .text = std::string("the judge failed: ") + error.what()});
    return report;
  }
}

}  // namespace

template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control) {
  const auto start = std::chrono::steady_clock::now();
  Summary summary;
  summary.implementation = implementation.name();
  summary.rows = row_coverage<Op>();
  summary.pairs = pair_coverage<Op>();
  summary.planned = static_cast<std::int64_t>(cases.size());
  for (SweepListener* listener : listeners)
    listener->on_start(summary.planned, summary.implementation);
  std::int64_t index = 0;
  for (const Case<Op>& c : cases) {
    if (control.stop != nullptr && *control.stop) {
      summary.interrupted = true;
      break;
    }
    if (control.budget_seconds > 0 && seconds_since(start) >= control.budget_seconds) break;
    const CaseReport* earlier =
        control.finished ? control.finished(case_id(command_line(c))) : nullptr;
    const CaseReport report = earlier != nullptr ? *earlier : examined(c, implementation);
    count(summary, report);
    for (SweepListener* listener : listeners) listener->on_case(report, index);
    ++index;
  }
  summary.seconds = seconds_since(start);
  for (SweepListener* listener : listeners) listener->on_end(summary);
  return summary;
}

template Summary sweep(std::span<const Case<spec::FlashAttentionScoreGrad>>,
                       spec::Implementation<spec::FlashAttentionScoreGrad>&,
                       std::span<SweepListener* const>, const SweepControl&);

}  // namespace assay::conformance
