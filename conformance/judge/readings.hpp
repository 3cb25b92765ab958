#pragma once

#include <utility>
#include <vector>

#include "assay/spec/passes_on.hpp"
#include "judge/run_kernel.hpp"

/// For some inputs the documentation contradicts itself about the memory order. These functions
/// judge a kernel that does not declare its memory order.
namespace assay::conformance {

/// Wraps a kernel and replaces the numerics (arithmetic) that it declares.
template <class Op>
class DeclaredReading final : public spec::PassesOn<Op> {
 public:
  DeclaredReading(spec::Implementation<Op>& kernel, spec::Numerics numerics)
      : spec::PassesOn<Op>(kernel), numerics_(std::move(numerics)) {}

  spec::Numerics numerics(const typename Op::Problem&) const override { return numerics_; }

 private:
  spec::Numerics numerics_;
};

/// Tests the kernel with a small version of the case. Returns true if the kernel conforms there
/// with the memory order of the case, but not with the order in the numerics `reading`. In this
/// situation no declared order fits both the case and its small version.
template <class Op>
bool reads_small_call_as_asked(const Case<Op>& c, spec::Implementation<Op>& kernel,
                               const OtherReading& reading) {
  const std::optional<Case<Op>> small = Suite<Op>::small_call(c);
  if (!small) return false;
  DeclaredReading<Op> declared(kernel, reading.numerics);
  return are_numbers_wrong(judge_case(*small, declared).verdict) &&
         judge_case(*small, kernel).verdict == Verdict::conforms;
}

/// Judges the case again with other memory orders of its inputs. This happens only if values in the
/// report `first` are wrong, the documentation contradicts itself about the order, and the kernel
/// declares none. `again` judges with numerics that declare an order. Returns the first report that
/// conforms, with a note about the order; otherwise returns `first`.
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
      add_note(first, FindingRule::note, {FactKind::conforms_but_not_small_call, reading.order});
      continue;
    }
    decide(report,
           {Rule::undeclared_order,
            Ground::fits_otherwise,
            {FactKind::conforms_otherwise, first.verdict.value(), reading.order}},
           FindingRule::note);
    return report;
  }
  return first;
}

}  // namespace assay::conformance
