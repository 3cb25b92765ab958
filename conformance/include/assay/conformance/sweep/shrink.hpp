#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/shrunk_case.hpp"
#include "assay/conformance/sweep/repetition.hpp"

namespace assay::conformance {

/// What a search for a smaller failing case may cost.
struct ShrinkBudget {
  std::int64_t runs = 200;                  ///< cases that are judged
  double seconds = 20;                      ///< no case is judged later
  const std::atomic<bool>* stop = nullptr;  ///< checked between cases
};

/// What shrinking a case found.
template <class Op>
struct Shrunk {
  Case<Op> smallest;
  CaseReport report;      ///< of `smallest`
  std::int64_t runs = 0;  ///< cases that were judged
  ShrinkEnd end = ShrinkEnd::smallest;
  Repetition again;  ///< how often `smallest` failed when it was run again at the end
};

/// Judges a case. As `alone`: on a kernel that has run no other case.
template <class Op>
using CaseJudge = std::function<CaseReport(const Case<Op>& c)>;

/// Whether a case with verdict `other` fails in the way of one with verdict `first`: a wrong number
/// stays a wrong number, one beyond the statistics may become one beyond the rigorous bound, any
/// other verdict stays what it is.
bool same_failure(Verdict first, Verdict other);

/// Reduces a failing case field by field, geometry first, and keeps every reduction that is legal
/// and fails in the same way, until no single one does or the budget is spent. The order of the
/// search is fixed: without a limit of time that is reached, the result depends on the judge alone.
/// Rejects a reduction in which a failed output passes because all its expected values are 0.
/// `alone` runs the case again before and after the search: a case that does not fail each time is
/// not shrunk, and a smaller one that does not is not reported.
/// Errors: std::invalid_argument if `failing`, the report of `c`, is no failure; what `judge`
///         throws.
template <class Op>
Shrunk<Op> shrink(const Case<Op>& c, const CaseReport& failing, const CaseJudge<Op>& judge,
                  const ShrinkBudget& budget = {}, const CaseJudge<Op>& alone = {});

}  // namespace assay::conformance
