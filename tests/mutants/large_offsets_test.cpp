#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/report/record.hpp"
#include "flash_attention_score_grad/size.hpp"

/// Tests cases with offsets beyond 31 bits: in bytes, bits or elements. They need at most 24 GB,
/// because only few rows of the large tensors are judged and few keys are unmasked.
namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// A case with at least 2^31 dropout bits and few unmasked keys.
constexpr const char* large_dropout =
    "flash_attention_score_grad --seq_q=50000 --seq_kv=50000 --head_dim=8 --head_dim_v=8 "
    "--scale_value=0.3535533845424652 --keep_prob=0.5 --drop_mask=exact --sparse_mode=4 "
    "--pre_tokens=5 --next_tokens=3 --atten_mask=compressed --rows=40";
/// A case with a mask of at least 2^31 bytes.
constexpr const char* large_mask =
    "flash_attention_score_grad --seq_q=46500 --seq_kv=46500 --head_dim=8 --head_dim_v=8 "
    "--scale_value=0.3535533845424652 --atten_mask=SS --mask=band --rows=40";

Verdict verdict_of(const std::string& line, spec::Implementation<Op>& kernel) {
  return judge_case(parse_case<Op>(case_words(line, Op::name)), kernel).verdict;
}

void expect_failure(const std::string& line, const std::string& name) {
  const auto all = mutants::size_mutants();
  const auto bug = std::ranges::find_if(
      all, [&](const mutants::SizeMutant& one) { return one.mutant.name == name; });
  ASSERT_NE(bug, all.end());
  ASSERT_TRUE(bug->concerns(parse_case<Op>(case_words(line, Op::name)).problem));
  EXPECT_EQ(contribution(verdict_of(line, *bug->mutant.make())), ExitCode::nonconformant) << name;
}

/// Each test runs in its own process, so the peak memory of the process is the memory that the
/// test's cases need.
class LargeOffsets : public ::testing::Test {
 protected:
  void TearDown() override {
    rusage usage = {};
    ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    EXPECT_LT(static_cast<double>(usage.ru_maxrss) * 1024, 24e9);
  }
};

TEST_F(LargeOffsets, FailNoHealthyKernel) {
  mutants::Kernel healthy("healthy", mutants::flash_like);
  for (const char* line : {large_dropout, large_mask})
    EXPECT_EQ(verdict_of(line, healthy), Verdict::conforms) << line;
}

TEST_F(LargeOffsets, DropoutOffsetsIn31BitsAreDetected) {
  expect_failure(large_dropout, "drop_bits_in_31_bits");
}
TEST_F(LargeOffsets, MaskOffsetsIn31BitsAreDetected) {
  expect_failure(large_mask, "mask_elements_in_31_bits");
}

}  // namespace
}  // namespace assay::conformance
