#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/judge/other_numerics.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/sweep/shrink.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "commands/tried_fields.hpp"
#include "stored/recorder.hpp"

namespace assay::cli {

/// Searches for the smallest case that fails in the same way as `c`, and returns the case.
/// `failing` is the report on `c`. `fresh` makes a new kernel for runs of a single case. If the
/// search ends early, it stores the fields that it did not try in `untried`.
template <class Op>
conformance::Shrunk<Op> shrunk(const conformance::Case<Op>& c,
                               const conformance::CaseReport& failing, Recorder<Op>& recorder,
                               const conformance::MakeFresh<Op>& fresh,
                               const conformance::ShrinkBudget& budget,
                               std::vector<std::string>& untried) {
  TriedFields tried(conformance::field_texts(c));
  const conformance::CaseJudge<Op> judge = [&](const conformance::Case<Op>& smaller) {
    tried.add(conformance::field_texts(smaller));
    auto report = conformance::judge_case(smaller, recorder);
    recorder.take();
    return report;
  };
  // Repeated runs of one case share a kernel object; a new case gets a new one.
  std::unique_ptr<spec::Implementation<Op>> kernel;
  std::string line;
  const conformance::CaseJudge<Op> alone = [&](const conformance::Case<Op>& again) {
    if (std::string now = conformance::command_line(again); now != line || !kernel) {
      kernel = fresh();
      line = std::move(now);
    }
    return conformance::judge_case(again, *kernel);
  };
  auto result = conformance::shrink(c, failing, judge, budget, alone);
  using conformance::ShrinkEnd;
  if (result.end != ShrinkEnd::smallest && result.end != ShrinkEnd::unsteady) {
    untried = tried.untried(conformance::field_texts(conformance::Case<Op>{}));
  }
  return result;
}

/// Searches for numerics (a rounding behaviour) that would explain the failure. With these
/// numerics, the kernel must pass an ordinary case and nearly all cases in `failing`, which fail
/// for the same cause. Returns no numerics if the failure is not numerical, or if the shrunk case
/// does not fail every time.
template <class Op>
conformance::NumericsFit fitting_numerics(const conformance::Shrunk<Op>& result,
                                          const std::vector<conformance::Case<Op>>& failing,
                                          Recorder<Op>& recorder,
                                          const conformance::ShrinkBudget& budget) {
  const bool repeats = result.again.failures == result.again.runs;
  if (!result.report.value_case || !result.smallest.violate.empty() || !repeats) return {};
  conformance::Case<Op> ordinary;
  ordinary.problem.dtype = failing.front().problem.dtype;
  const auto start = std::chrono::steady_clock::now();
  const std::function<bool()> ends = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return spent.count() > budget.seconds || (budget.stop != nullptr && *budget.stop);
  };
  conformance::NumericsFit fit =
      conformance::NumericsSearch<Op>(failing, recorder, ends).best(ordinary);
  recorder.take();
  return fit;
}

/// Makes the entry of the report about a failing case and the smallest similar case. `cases` is the
/// number of failing cases with the same cause.
template <class Op>
conformance::ShrunkCase shrunk_case(const conformance::CaseReport& failing,
                                    const conformance::Shrunk<Op>& result,
                                    const conformance::NumericsFit& fit, std::size_t cases,
                                    std::vector<std::string> untried) {
  return {.id = failing.id,
          .command_line = failing.command_line,
          .shrunk = conformance::command_line(result.smallest),
          .verdict = result.report.verdict,
          .runs = result.runs,
          .end = result.end,
          .again = result.again.runs,
          .failed_again = result.again.failures,
          .declared = fit.text,
          .fields = result.report.fields,
          .failed = conformance::failed_tensors(result.report),
          .untried = std::move(untried),
          .of_cause = static_cast<std::int64_t>(cases),
          .run_declared = fit.run,
          .conform_declared = fit.conform};
}

}  // namespace assay::cli
