#pragma once

#include <utility>
#include <vector>

#include "assay/spec/passes_on.hpp"
#include "judge/run_kernel.hpp"

/// Judging a kernel that does not declare how it reads inputs whose places the documents dispute.
namespace assay::conformance {

/// A kernel that declares the numerics of a reading.
template <class Op>
class DeclaredReading final : public spec::PassesOn<Op> {
 public:
  DeclaredReading(spec::Implementation<Op>& kernel, spec::Numerics numerics)
      : spec::PassesOn<Op>(kernel), numerics_(std::move(numerics)) {}

  spec::Numerics numerics(const typename Op::Problem&) const override { return numerics_; }

 private:
  spec::Numerics numerics_;
};

/// Whether the kernel reads the inputs of a small call as the case asks, and not as `reading`
/// declares: then no declaration fits both calls.
template <class Op>
bool reads_small_call_as_asked(const Case<Op>& c, spec::Implementation<Op>& kernel,
                               const OtherReading& reading) {
  const std::optional<Case<Op>> small = Suite<Op>::small_call(c);
  if (!small) return false;
  DeclaredReading<Op> declared(kernel, reading.numerics);
  return are_numbers_wrong(judge_case(*small, declared).verdict) &&
         judge_case(*small, kernel).verdict == Verdict::conforms;
}

/// The report `first`; of a kernel whose numbers are wrong there, and which declares nothing of
/// disputed inputs, the first one of `again`(numerics that declare it) that conforms, and says so.
template <class Op, class Again>
CaseReport read_otherwise(const Case<Op>& c, spec::Implementation<Op>& kernel, CaseReport first,
                          Again&& again) {
  if (!are_numbers_wrong(first.verdict)) return first;
  std::vector<OtherReading> readings;
  try {
    readings = Suite<Op>::other_readings(c, numerics_of(kernel, c.problem));
  } catch (const spec::ImplementationFault&) {
    return first;
  }
  for (const OtherReading& reading : readings) {
    CaseReport report = again(reading.numerics);
    if (report.verdict != Verdict::conforms && report.verdict != Verdict::conforms_weak) continue;
    if (reads_small_call_as_asked(c, kernel, reading)) {
      add_note(first, FindingRule::note,
               "it would conform if " + reading.text +
                   "; but a small call conforms as it is, and not so: no declaration fits both");
      continue;
    }
    decide(report,
           {Rule::undeclared_order, Ground::fits_otherwise,
            "conforms if " + reading.text + "; as the case asks: " + first.verdict.evidence},
           FindingRule::note);
    return report;
  }
  return first;
}

}  // namespace assay::conformance
