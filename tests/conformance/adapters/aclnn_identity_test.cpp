// The same cases judged in process and through the C API of the shared library: nobody could tell which was which.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "assay/adapters/aclnn.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/sampling.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// What the library's own arithmetic is, told where the C API has no words for it.
std::unique_ptr<spec::Implementation<Op>> through_the_c_api() {
  return adapters::open_aclnn<Op>(ASSAY_ACLNN ",overflow=inf,exp_error=0x1p-23");
}

/// The status in the finding of a refusal, "161002"; empty if nothing was refused.
std::string status_of(const CaseReport& report) {
  const std::string start = "refused with ";
  for (const Finding& finding : report.findings)
    if (finding.text.starts_with(start))
      return finding.text.substr(start.size(), finding.text.find(' ', start.size()) - start.size());
  return "";
}

void expect_equal_judgement(const CaseReport& in_process, const CaseReport& through_api) {
  SCOPED_TRACE(in_process.command_line);
  EXPECT_EQ(in_process.verdict, through_api.verdict);
  EXPECT_EQ(in_process.digests, through_api.digests);
  EXPECT_EQ(status_of(in_process), status_of(through_api));
  ASSERT_EQ(in_process.tensors.size(), through_api.tensors.size());
  for (std::size_t k = 0; k < in_process.tensors.size(); ++k)
    EXPECT_EQ(in_process.tensors[k].worst, through_api.tensors[k].worst);
}

/// Judges the cases by both ways. Answers the share of the sweep's time that the C API cost.
double expect_equal_judgements(const std::vector<Case<Op>>& cases) {
  const auto in_process = optimized::flash_attention_score_grad(device::a2());
  const auto through_api = through_the_c_api();
  double sweep_seconds = 0, extra_seconds = 0;
  for (const Case<Op>& c : cases) {
    // A cascade runs a forward, for which the documents have no prototype.
    if (c.relation == "cascade") continue;
    Examination examination(c);
    const CaseReport direct = examine(examination, *in_process);
    const CaseReport indirect = examine(examination, *through_api);
    expect_equal_judgement(direct, indirect);
    sweep_seconds += direct.seconds_total;
    extra_seconds += indirect.seconds_implementation - direct.seconds_implementation;
    if (testing::Test::HasFailure()) return 1;
  }
  return extra_seconds / sweep_seconds;
}

std::vector<Case<Op>> selected(bool wanted(const Case<Op>&), std::size_t step) {
  std::vector<Case<Op>> cases;
  std::size_t number = 0;
  for (Case<Op>& c : sample<Op>({}))
    if (wanted(c) && number++ % step == 0) cases.push_back(std::move(c));
  return cases;
}

TEST(AclnnIdentity, EveryRefusalHasTheSameStatus) {
  const auto cases = selected([](const Case<Op>& c) { return !c.violate.empty(); }, 1);
  EXPECT_GT(cases.size(), 100u);
  expect_equal_judgements(cases);
  const auto library = through_the_c_api();
  EXPECT_EQ(status_of(examine(cases.front(), *library)), "161002") << "a status was compared";
}

TEST(AclnnIdentity, OutputsHaveTheSameBitsAndVerdicts) {
  const auto cases = selected([](const Case<Op>& c) { return c.violate.empty(); }, 29);
  EXPECT_GT(cases.size(), 30u);
  expect_equal_judgements(cases);
}

TEST(Nightly, TheWholeSweepIsTheSameAndTheCApiCostsATenthOfItAtMost) {
  const double share = expect_equal_judgements(selected([](const Case<Op>&) { return true; }, 1));
  std::cout << "the C API costs " << 100 * share << " % of the sweep's time\n";
  EXPECT_LE(share, 0.1);
}

}  // namespace
}  // namespace assay::conformance
