#include "assay/conformance/judge/other_numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "assay/spec/operators.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Numerics;

std::set<std::string> texts(const Numerics& declared, DType io) {
  std::set<std::string> all;
  for (const OtherNumerics& other :
       other_numerics(declared, io, spec::FlashAttentionScoreGrad::name)) {
    EXPECT_TRUE(all.insert(other.text).second) << other.text;
    EXPECT_NE(other.of(declared, io), declared) << other.text;
    EXPECT_FALSE(other.of(declared, io).weak) << other.text;
    // A user can append each of these declarations to the arithmetic that the kernel already
    // declares.
    EXPECT_NO_THROW(
        static_cast<void>(spec::numerics_from_text(other.text, io, "flash_attention_score_grad")))
        << other.text;
  }
  return all;
}

TEST(OtherNumerics, ChangeEveryFieldThatRounds) {
  const auto all = texts({}, DType::bf16);
  for (const char* text :
       {"stage=fp16", "stage=bf16", "operand_scaled=true", "accumulator=fp16", "product=tf32",
        "stats=own", "delta=own", "fused=false", "lse_form=true", "exp_error=0x1p-16",
        "round_out=rna", "partials=bf16", "store_p=bf16", "cuda_flash"})
    EXPECT_TRUE(all.contains(text)) << text;
  for (const char* text : {"stage=fp32", "order=fixed", "weak=true", "operand_scaled=false"})
    EXPECT_FALSE(all.contains(text)) << text;
}

TEST(OtherNumerics, MayBeALogSumExpWhereStatisticsAreOutputs) {
  const auto tries_lse = [](std::string_view operator_name) {
    const auto all = other_numerics({}, DType::bf16, operator_name);
    return std::ranges::find(all, "saves=lse", &OtherNumerics::text) != all.end();
  };
  EXPECT_TRUE(tries_lse(spec::FlashAttentionScore::name));
  EXPECT_TRUE(tries_lse(spec::NsaSelectedAttention::name));
  EXPECT_FALSE(tries_lse(spec::FlashAttentionScoreGrad::name));
  EXPECT_FALSE(tries_lse(spec::NsaCompress::name));
}

TEST(OtherNumerics, KeepTheOtherFields) {
  const Numerics declared{.stage = DType::fp16, .operand_scaled = true};
  for (const OtherNumerics& other :
       other_numerics(declared, DType::fp16, spec::FlashAttentionScoreGrad::name))
    if (other.text == "stats=own") {
      Numerics wanted = declared;
      wanted.stats = spec::Origin::own;
      EXPECT_EQ(other.of(declared, DType::fp16), wanted);
      return;
    }
  FAIL() << "stats=own must be among the tried numerics";
}

TEST(OtherNumerics, MayBeTheTypeOfTheTensorsWhateverItIs) {
  for (const OtherNumerics& other :
       other_numerics({}, DType::bf16, spec::FlashAttentionScoreGrad::name))
    if (other.text == "bf16:partials=bf16 fp16:partials=fp16") {
      EXPECT_EQ(other.of({}, DType::bf16).partials, DType::bf16);
      EXPECT_EQ(other.of({}, DType::fp16).partials, DType::fp16);
      EXPECT_EQ(other.of({}, DType::fp32).partials, DType::fp32);
      return;
    }
  FAIL() << "partial sums in the type of the tensors must be among the tried numerics";
}

}  // namespace
}  // namespace assay::conformance
