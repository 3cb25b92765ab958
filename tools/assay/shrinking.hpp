#pragma once

#include "assay/conformance/operators.hpp"
#include "assay/conformance/results.hpp"
#include "recorder.hpp"

namespace assay::cli {

/// The smallest failing neighbour of a case that failed with the report `failing`.
template <class Op>
conformance::Shrunk<Op> shrunk(const conformance::Case<Op>& c,
                               const conformance::CaseReport& failing, Recorder<Op>& recorder,
                               const conformance::ShrinkBudget& budget) {
  const conformance::CaseJudge<Op> judge = [&](const conformance::Case<Op>& smaller) {
    auto report = conformance::examine(smaller, recorder);
    recorder.take();
    return report;
  };
  return conformance::shrink(c, failing, judge, budget);
}

/// What a report tells of it.
template <class Op>
conformance::ShrunkCase told(const conformance::CaseReport& failing,
                             const conformance::Shrunk<Op>& result) {
  return {.id = failing.id,
          .command_line = failing.command_line,
          .shrunk = conformance::command_line(result.smallest),
          .verdict = result.report.verdict,
          .runs = result.runs,
          .end = result.end};
}

}  // namespace assay::cli
