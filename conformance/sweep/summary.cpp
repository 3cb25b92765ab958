#include "assay/conformance/sweep/sweep.hpp"

namespace assay::conformance {
namespace {

std::string_view field(const CaseReport& report, std::string_view name) {
  for (const auto& [key, value] : report.fields)
    if (key == name) return value;
  return {};
}

}  // namespace

void take_ways(RequirementCoverage& coverage, const CaseReport& report) {
  if (report.verdict == Verdict::conforms) coverage.take(field(report, "variant"));
  if (report.verdict == Verdict::rejected_as_specified ||
      report.verdict == Verdict::rejected_other_code)
    coverage.take(field(report, "violate"));
}

void count_tensors(Summary& summary, const CaseReport& report) {
  for (const TensorReport& tensor : report.tensors) {
    summary.rows_judged += tensor.rows_judged;
    summary.rows_total += tensor.rows_total;
    summary.certainty += tensor.certainty;
  }
}

void count(Summary& summary, const CaseReport& report) {
  ++summary.cases;
  if (report.value_case) ++summary.value_cases;
  ++summary.verdicts[report.verdict];
  count_tensors(summary, report);
  const std::string_view entry_point = field(report, "entry_point");
  if (report.verdict == Verdict::conforms)
    for (const std::string& id : report.accepted_requirements)
      summary.requirements.accept(id, entry_point);
  take_ways(summary.requirements, report);
  if (report.verdict == Verdict::conforms && report.value_case) cover(summary.pairs, report);
  if (report.verdict == Verdict::rejected_as_specified ||
      report.verdict == Verdict::rejected_other_code)
    summary.requirements.reject(report.violated_requirement, entry_point);
}

ExitCode Summary::exit_code() const {
  bool nonconformant = false, not_conclusive = false, judged = false;
  for (const auto& [verdict, cases_of_it] : verdicts) {
    if (cases_of_it == 0) continue;
    switch (contribution(verdict)) {
      case ExitCode::usage:
        return ExitCode::usage;
      case ExitCode::nonconformant:
        nonconformant = true;
        break;
      case ExitCode::not_conclusive:
        not_conclusive = true;
        break;
      case ExitCode::conformant:
        judged = judged || verdict != Verdict::not_applicable;
        break;
    }
  }
  if (nonconformant) return ExitCode::nonconformant;
  return not_conclusive || !judged ? ExitCode::not_conclusive : ExitCode::conformant;
}

}  // namespace assay::conformance
