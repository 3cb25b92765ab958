#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/adapters/aclnn.hpp"
#include "assay/conformance/examination.hpp"
#include "assay/conformance/sampling.hpp"

/// The same cases judged in process and through the C API of the shared library: nobody can tell
/// which was which.
namespace assay::conformance::tests {

/// The library, and what its arithmetic is, told where the C API has no words for it.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> through_the_c_api() {
  return adapters::open_aclnn<Op>(ASSAY_ACLNN ",overflow=inf,exp_error=0x1p-23");
}

/// The status in the finding of a refusal, "161002"; empty if nothing was refused.
inline std::string status_of(const CaseReport& report) {
  const std::string start = "refused with ";
  for (const Finding& finding : report.findings)
    if (finding.text.starts_with(start))
      return finding.text.substr(start.size(), finding.text.find(' ', start.size()) - start.size());
  return "";
}

inline void expect_equal_judgement(const CaseReport& in_process, const CaseReport& through_api) {
  SCOPED_TRACE(in_process.command_line);
  EXPECT_EQ(in_process.verdict, through_api.verdict);
  EXPECT_EQ(in_process.digests, through_api.digests);
  EXPECT_EQ(status_of(in_process), status_of(through_api));
  ASSERT_EQ(in_process.tensors.size(), through_api.tensors.size());
  for (std::size_t k = 0; k < in_process.tensors.size(); ++k)
    EXPECT_EQ(in_process.tensors[k].worst, through_api.tensors[k].worst);
}

/// Judges the cases both ways. Answers the share of the sweep's time that the C API cost.
template <class Op>
double expect_equal_judgements(const std::vector<Case<Op>>& cases,
                               spec::Implementation<Op>& in_process) {
  const auto through_api = through_the_c_api<Op>();
  double sweep_seconds = 0, extra_seconds = 0;
  for (const Case<Op>& c : cases) {
    Examination<Op> examination(c);
    const CaseReport direct = examine(examination, in_process);
    const CaseReport indirect = examine(examination, *through_api);
    expect_equal_judgement(direct, indirect);
    sweep_seconds += direct.seconds_total;
    extra_seconds += indirect.seconds_implementation - direct.seconds_implementation;
    if (testing::Test::HasFailure()) return 1;
  }
  return extra_seconds / sweep_seconds;
}

/// Every `step`th case of a sweep that is wanted. A cascade is not: it runs a forward, for which
/// the documents have no prototype.
template <class Op, class Wanted>
std::vector<Case<Op>> selected(Wanted&& wanted, std::size_t step) {
  std::vector<Case<Op>> cases;
  std::size_t number = 0;
  for (Case<Op>& c : sample<Op>({}))
    if (c.relation != "cascade" && wanted(c) && number++ % step == 0) cases.push_back(std::move(c));
  return cases;
}

}  // namespace assay::conformance::tests
