#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/other_numerics.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/causes.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/report/sweep.hpp"
#include "stored/recorder.hpp"

namespace assay::cli {

/// The smallest failing neighbour of a case that failed with the report `failing`. `fresh` makes
/// the kernels on which a case is run again alone.
template <class Op>
conformance::Shrunk<Op> shrunk(const conformance::Case<Op>& c,
                               const conformance::CaseReport& failing, Recorder<Op>& recorder,
                               const conformance::MakeFresh<Op>& fresh,
                               const conformance::ShrinkBudget& budget) {
  const conformance::CaseJudge<Op> judge = [&](const conformance::Case<Op>& smaller) {
    auto report = conformance::examine(smaller, recorder);
    recorder.take();
    return report;
  };
  // Kept as long as the same case is run again.
  std::unique_ptr<spec::Implementation<Op>> kernel;
  std::string line;
  const conformance::CaseJudge<Op> alone = [&](const conformance::Case<Op>& again) {
    if (std::string now = conformance::command_line(again); now != line || !kernel) {
      kernel = fresh();
      line = std::move(now);
    }
    return conformance::examine(again, *kernel);
  };
  return conformance::shrink(c, failing, judge, budget, alone);
}

/// With which numerics the case, what it was shrunk to, the `others` that fail like it and an
/// ordinary one would conform; empty where with none, where no numbers are the matter, or where it
/// does not fail each time.
template <class Op>
std::string fitting_numerics(const conformance::Case<Op>& c, const conformance::Shrunk<Op>& result,
                             const std::vector<conformance::Case<Op>>& others,
                             Recorder<Op>& recorder, const conformance::ShrinkBudget& budget) {
  const bool repeats = result.again.failures == result.again.runs;
  if (!result.report.value_case || !c.violate.empty() || !repeats) return {};
  std::vector<conformance::Case<Op>> failing = {result.smallest};
  if (conformance::command_line(c) != conformance::command_line(result.smallest))
    failing.push_back(c);
  failing.insert(failing.end(), others.begin(), others.end());
  conformance::Case<Op> ordinary;
  ordinary.problem.dtype = c.problem.dtype;
  const auto start = std::chrono::steady_clock::now();
  const auto ends = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return spent.count() > budget.seconds || (budget.stop != nullptr && *budget.stop);
  };
  const std::string fitting = conformance::fitting_numerics<Op>(failing, ordinary, recorder, ends);
  recorder.take();
  return fitting;
}

/// What a report tells of it.
template <class Op>
conformance::ShrunkCase told(const conformance::CaseReport& failing,
                             const conformance::Shrunk<Op>& result, std::string declared) {
  return {.id = failing.id,
          .command_line = failing.command_line,
          .shrunk = conformance::command_line(result.smallest),
          .verdict = result.report.verdict,
          .runs = result.runs,
          .end = result.end,
          .again = result.again.runs,
          .failed_again = result.again.failures,
          .declared = std::move(declared),
          .fields = result.report.fields,
          .failed = conformance::failed_tensors(result.report)};
}

}  // namespace assay::cli
