#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/properties.hpp"
#include "compress_kernel.hpp"
#include "operators/nsa_compress_grad_sampling.hpp"

namespace assay::conformance {
namespace {

using compress::CompressCase;
using testing::CompressKernel;
using testing::CompressOp;
using testing::CompressPlan;
using testing::SumOrder;

std::vector<CompressCase> all_cases() { return compress::relation_cases(1); }

TEST(CompressRelations, HealthyKernelsFulfilAllOfThem) {
  for (const SumOrder order : {SumOrder::ascending, SumOrder::windows}) {
    CompressKernel kernel(testing::healthy_plan(order));
    for (const CompressCase& c : all_cases()) {
      const CaseReport report = examine(c, kernel);
      EXPECT_EQ(report.verdict, Verdict::conforms)
          << report.command_line << (report.findings.empty() ? "" : report.findings[0].text);
      EXPECT_TRUE(report.value_case);
    }
  }
}

TEST(CompressRelations, AKernelOfAnyOrderFulfilsThemToo) {
  CompressKernel kernel(testing::healthy_plan(SumOrder::shuffled), {.order = spec::Order::any});
  for (const CompressCase& c : all_cases())
    EXPECT_EQ(examine(c, kernel).verdict, Verdict::conforms) << command_line(c);
}

/// Names of the relations that some case shows the kernel to break.
std::set<std::string> broken_by(const CompressPlan& plan) {
  CompressKernel kernel(plan);
  std::set<std::string> names;
  for (const CompressCase& c : all_cases())
    if (contribution(examine(c, kernel).verdict) == ExitCode::nonconformant) names.insert(c.relation);
  return names;
}

using Names = std::set<std::string>;

TEST(CompressRelations, EachSeesWhatItSpeaksOf) {
  CompressPlan once = testing::healthy_plan();
  once.overlap = false;
  EXPECT_EQ(broken_by(once), (Names{"contraction", "count_windows", "isolate_window"}));
  CompressPlan late = testing::healthy_plan();
  late.start = [](const CompressOp::Problem& p, std::int64_t, std::int64_t i) {
    return i * p.compress_stride + 1;
  };
  EXPECT_TRUE(broken_by(late).contains("isolate_window"));
  EXPECT_TRUE(broken_by(late).contains("append_tail"));
  // The defect of the published kernel: a window behind a short sequence starts where that one does.
  CompressPlan behind = testing::healthy_plan();
  behind.start = [](const CompressOp::Problem& p, std::int64_t b, std::int64_t i) {
    const bool is_behind_short = i == 0 && b > 0 && p.length(b - 1) > 0 &&
                                 p.length(b - 1) < p.compress_block_size;
    return is_behind_short ? -p.length(b - 1) : i * p.compress_stride;
  };
  const Names broken = broken_by(behind);
  for (const char* name : {"drop_short", "sequences_alone", "permute_sequences", "count_windows"})
    EXPECT_TRUE(broken.contains(name)) << name;
  EXPECT_FALSE(broken.contains("heads_alone"));
}

TEST(CompressRelations, CombineWhatTheyRead) {
  CompressPlan channels = testing::healthy_plan();
  channels.weight_channels = 16;
  const Names broken = broken_by(channels);
  EXPECT_TRUE(broken.contains("channels_alone"));
  EXPECT_TRUE(broken.contains("contraction"));
}

TEST(CompressRelations, AreListedWithCasesOfTheirDomain) {
  const std::vector<Property> listed = properties<CompressOp>();
  EXPECT_GE(listed.size(), 20u);
  for (const Property& property : listed) {
    const auto cases = property_cases<CompressOp>(property.name);
    EXPECT_GE(cases.size(), 2u) << property.name;
    for (const CompressCase& c : cases) EXPECT_EQ(c.relation, property.name);
  }
  EXPECT_THROW(property_cases<CompressOp>("nonesuch"), std::invalid_argument);
}

}  // namespace
}  // namespace assay::conformance
