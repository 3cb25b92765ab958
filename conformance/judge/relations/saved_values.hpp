#pragma once

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/judge/saved_values.hpp"
#include "assay/conformance/suite.hpp"
#include "judge/decide.hpp"

namespace assay::conformance {

template <class Op>
std::optional<CaseReport> judge_saved_values(const Case<Op>& c, const typename Op::Inputs& inputs,
                                             const spec::Numerics& numerics) {
  using Basis = typename Suite<Op>::Basis;
  if constexpr (requires(CaseReport & report) {
                  Basis::judge_saved_values(c, inputs, numerics, report);
                }) {
    CaseReport report = blank_report(c);
    conclude(report, Basis::judge_saved_values(c, inputs, numerics, report));
    return report;
  }
  return std::nullopt;
}

}  // namespace assay::conformance
