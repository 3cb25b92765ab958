#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/shrunk_case.hpp"
#include "assay/conformance/sweep/repetition.hpp"

namespace assay::conformance {

/// The limits of a search for a smaller failing case.
struct ShrinkBudget {
  std::int64_t runs = 200;                  ///< cases to judge
  double seconds = 20;                      ///< no case is judged later
  const std::atomic<bool>* stop = nullptr;  ///< checked between cases
};

/// The result of shrinking a failing case.
template <class Op>
struct Shrunk {
  Case<Op> smallest;
  CaseReport report;      ///< of `smallest`
  std::int64_t runs = 0;  ///< cases that were judged
  ShrinkEnd end = ShrinkEnd::smallest;
  Repetition again;  ///< final runs of `smallest`
};

/// A function that judges a case. The argument `alone` of `shrink` is also of this type: it uses a
/// kernel that has not run any other case.
template <class Op>
using CaseJudge = std::function<CaseReport(const Case<Op>& c)>;

/// Returns whether two verdicts describe the same failure. All verdicts about wrong numbers count
/// as the same, because in a smaller case an error beyond the probabilistic bound may become an
/// error beyond the rigorous bound. Other verdicts must be equal.
bool same_failure(Verdict first, Verdict other);

/// Shrinks a failing case one field at a time, lengths and head counts first. Keeps every reduction
/// that is legal and fails in the same way. Ends when no single reduction does this, or when the
/// budget is spent. The order of the search is fixed; without a timeout, the result depends only on
/// the judge. Rejects a reduction if an output that failed before now passes only because all its
/// expected values are 0. `alone` runs the case again before and after the search: if the case does
/// not fail each time, it is not shrunk; if the smaller case does not fail each time, it is not
/// reported. Errors: std::invalid_argument if `failing`, the report of `c`, is not a failure;
/// exceptions of `judge`.
template <class Op>
Shrunk<Op> shrink(const Case<Op>& c, const CaseReport& failing, const CaseJudge<Op>& judge,
                  const ShrinkBudget& budget = {}, const CaseJudge<Op>& alone = {});

}  // namespace assay::conformance
