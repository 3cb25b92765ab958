#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "assay/spec/numerics.hpp"
#include "assay/spec/operators.hpp"

namespace assay::spec {
namespace {

template <class Enum>
class Spelling : public testing::Test {};

template <class... Ops>
testing::Types<Status, DType, Layout, Format, Product, Standing, Side, MaskShape, Striding,
               Rounding, Overflow, Origin, RowTerm, Order, Product32, Accumulator,
               typename Ops::EntryPoint...>
    enums_with_entry_points_of(TypeList<Ops...>);
TYPED_TEST_SUITE(Spelling, decltype(enums_with_entry_points_of(Operators())));

TYPED_TEST(Spelling, RoundTripsAndIsUnique) {
  std::set<std::string_view> seen;
  for (const auto& [value, text] : spellings_of<TypeParam>.entries) {
    EXPECT_EQ(to_string(value), text);
    EXPECT_EQ(spellings_of<TypeParam>.parse(text), value);
    EXPECT_TRUE(seen.insert(text).second) << text;
    EXPECT_FALSE(text.empty());
    EXPECT_NE(spellings_of<TypeParam>.choices().find(text), std::string::npos);
  }
}

TYPED_TEST(Spelling, UnknownTextIsNotParsed) {
  EXPECT_FALSE(spellings_of<TypeParam>.parse("?").has_value());
  EXPECT_FALSE(spellings_of<TypeParam>.parse("").has_value());
}

TEST(Spellings, ListTheirChoicesInOrder) {
  EXPECT_EQ(spellings_of<Layout>.choices(), "BSH, SBH, BSND, BNSD, TND");
}

TEST(VisitFields, EveryFieldOfAProblemHasAUniqueNameAndAMeaning) {
  const FlashAttentionScoreGrad::Problem problem;
  std::set<std::string_view> names;
  visit_fields(problem, [&](std::string_view name, const auto&, std::string_view meaning) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(meaning.empty()) << name;
  });
  EXPECT_EQ(names.size(), 31u);
}

TEST(VisitFields, EveryMemberOfAProblemIsVisited) {
  const FlashAttentionScoreGrad::Problem plain;
  int fields = 0;
  visit_fields(plain, [&](std::string_view, const auto&, std::string_view) { ++fields; });
  for (int field = 0; field < fields; ++field) {
    FlashAttentionScoreGrad::Problem changed;
    int position = 0;
    visit_fields(changed, [&](std::string_view, auto& member, std::string_view) {
      using Member = std::remove_reference_t<decltype(member)>;
      if (position++ != field) return;
      if constexpr (requires { member.push_back(1); }) {
        member.push_back(1);
      } else {
        member = static_cast<Member>(static_cast<int>(member) + 1);
      }
    });
    EXPECT_NE(changed, plain) << "field " << field;
  }
}

TEST(NumericsPresets, AreFoundByNameAndDifferFromEachOther) {
  for (const auto& preset : numerics_presets()) {
    EXPECT_EQ(numerics_preset(preset.name, DType::bf16), preset.of_scores(DType::bf16));
    EXPECT_FALSE(preset.summary.empty());
    for (const auto& other : numerics_presets()) {
      if (preset.name != other.name) {
        EXPECT_NE(preset.of_scores(DType::bf16), other.of_scores(DType::bf16))
            << preset.name << ' ' << other.name;
      }
    }
  }
  EXPECT_EQ(numerics_presets().size(), 6u);
}

TEST(NumericsPresets, CompressionPresetsStageNothingOnADevice) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const Numerics device = numerics_preset("ascend_a2", dtype, "nsa_compress_grad");
    EXPECT_EQ(device.stage, DType::fp32);
    EXPECT_EQ(device.round_out, Rounding::rne);
    EXPECT_EQ(numerics_preset("ascend_a2", dtype, "nsa_selected_attention_grad"),
              numerics_preset("ascend_a2", dtype));
    EXPECT_EQ(numerics_from_text("ascend_a2,order=fixed", dtype, "nsa_compress_grad").round_out,
              Rounding::rne);
    Numerics forward = device;
    forward.round_out = Rounding::rna;
    EXPECT_EQ(numerics_preset("ascend_a2", dtype, "nsa_compress"), forward);
  }
  for (const auto& preset : numerics_presets())
    EXPECT_EQ(numerics_preset(preset.name, DType::bf16, "nsa_compress_grad"),
              preset.of_sums(DType::bf16));
}

TEST(NumericsPresets, UnknownPresetIsReportedWithTheChoices) {
  try {
    numerics_preset("nonesuch", DType::fp16);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("nonesuch"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("ascend_a2"), std::string::npos);
  }
}

TEST(NumericsPresets, NarrowNothingForSinglePrecision) {
  for (const auto& preset : numerics_presets()) {
    const Numerics numerics = preset.of_scores(DType::fp32);
    for (const DType type :
         {numerics.store_s, numerics.store_p, numerics.store_dp, numerics.stage, numerics.partials})
      EXPECT_EQ(type, DType::fp32) << preset.name;
  }
}

}  // namespace
}  // namespace assay::spec
