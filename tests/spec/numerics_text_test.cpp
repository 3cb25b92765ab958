#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "assay/spec/numerics.hpp"

namespace assay::spec {
namespace {

/// Returns the error message for an invalid text.
std::string refusal(const std::string& text) {
  try {
    numerics_from_text(text, DType::bf16);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NumericsText, EmptyTextGivesTheDefault) {
  EXPECT_EQ(numerics_from_text("", DType::bf16), Numerics{});
  EXPECT_EQ(numerics_from_text(" \t", DType::fp32), Numerics{});
}

TEST(NumericsText, APresetIsTheOneOfTheType) {
  for (const NumericsPreset& preset : numerics_presets())
    for (const DType io : {DType::fp16, DType::bf16, DType::fp32})
      EXPECT_EQ(numerics_from_text(preset.name, io), preset.of_scores(io)) << preset.name;
}

TEST(NumericsText, FieldsDifferFromThePreset) {
  Numerics wanted = numerics_preset("ascend_a2", DType::fp16);
  wanted.order = Order::fixed;
  wanted.exp_error = 1e-6;
  wanted.lse_form = true;
  wanted.store_dp = DType::fp16;
  EXPECT_EQ(numerics_from_text("ascend_a2,order=fixed,exp_error=1e-6,lse_form=true,store_dp=fp16",
                               DType::fp16),
            wanted);
  EXPECT_EQ(numerics_from_text("stats=own", DType::fp16).stats, Origin::own);
  EXPECT_EQ(numerics_from_text("cuda_flash,saves=lse", DType::fp16).saves, Saved::lse);
  EXPECT_EQ(numerics_from_text("saves=lse,log_error=1e-5", DType::fp16).log_error, 1e-5);
  EXPECT_EQ(numerics_from_text("exp_error=0x1p-20", DType::fp16).exp_error, 0x1p-20);
}

TEST(NumericsText, OrdersOfStatisticsAreUndeclaredUnlessTheTextDeclaresThem) {
  for (const NumericsPreset& preset : numerics_presets()) {
    const Numerics numerics = numerics_from_text(preset.name, DType::bf16);
    EXPECT_EQ(numerics.statistics_order, DeclaredOrder::undeclared) << preset.name;
    EXPECT_EQ(numerics.statistics_order_empty, DeclaredOrder::undeclared) << preset.name;
    EXPECT_EQ(numerics.statistics_order_same_as_input, DeclaredOrder::undeclared) << preset.name;
  }
  const Numerics numerics = numerics_from_text(
      "statistics_order=tokens_first,statistics_order_same_as_input=heads_first", DType::bf16);
  EXPECT_EQ(numerics.statistics_order, DeclaredOrder::tokens_first);
  EXPECT_EQ(numerics.statistics_order_empty, DeclaredOrder::undeclared);
  EXPECT_EQ(numerics.statistics_order_same_as_input, DeclaredOrder::heads_first);
}

TEST(NumericsText, EveryTypeHasItsOwn) {
  const std::string text = "fp32:torch_fp32 bf16:jax_cpu,delta=given";
  Numerics bf16 = numerics_preset("jax_cpu", DType::bf16);
  bf16.delta = spec::RowTerm::given;
  EXPECT_EQ(numerics_from_text(text, DType::fp32), numerics_preset("torch_fp32", DType::fp32));
  EXPECT_EQ(numerics_from_text(text, DType::bf16), bf16);
  EXPECT_EQ(numerics_from_text(text, DType::fp16), Numerics{});
  EXPECT_EQ(numerics_from_text("ascend_a2 " + text, DType::fp16),
            numerics_preset("ascend_a2", DType::fp16));
}

TEST(NumericsText, WrongWordsAreNamed) {
  EXPECT_PRED2(has, refusal("ascend_a9"), std::string("ascend_a9"));
  EXPECT_PRED2(has, refusal("ascend_a9"), std::string("ascend_a2"));
  EXPECT_PRED2(has, refusal("colour=red"), std::string("exp_error"));
  EXPECT_PRED2(has, refusal("order=sorted"), std::string("any, fixed"));
  EXPECT_PRED2(has, refusal("fused=1"), std::string("true or false"));
  EXPECT_PRED2(has, refusal("exp_error=small"), std::string("a number"));
  EXPECT_PRED2(has, refusal("exp_error=0x"), std::string("a number"));
  for (const char* text : {"exp_error=-1", "exp_error=nan", "exp_error=1.5", "floor=inf"})
    EXPECT_PRED2(has, refusal(text), std::string(text) + "': expected a number from 0 to 1");
  EXPECT_EQ(numerics_from_text("exp_error=0,floor=1", DType::fp16).exp_error, 0);
  EXPECT_PRED2(has, refusal("order=fixed,ascend_a2"), std::string("after the preset"));
  EXPECT_PRED2(has, refusal("fp17:ascend_a2"), std::string("before the colon"));
  EXPECT_PRED2(has, refusal("fp32:order=sorted"), std::string("any, fixed"));
  for (const char* text : {"stage=int8", "store_p=fp64", "partials=fp17"})
    EXPECT_PRED2(has, refusal(text), std::string(text) + "': expected fp16, bf16, fp32");
  for (const char* text : {",", "ascend_a2,", ",order=any", "ascend_a2,,order=any", "fp32:"})
    EXPECT_PRED2(has, refusal(text),
                 std::string("expected a preset or field=value, separated by commas"));
  EXPECT_PRED2(has, refusal("floor=0,order=any,floor=1"),
               std::string("expected field 'floor' once"));
}

}  // namespace
}  // namespace assay::spec
