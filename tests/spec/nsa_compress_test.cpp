#include "assay/spec/operators/nsa_compress.hpp"

#include <gtest/gtest.h>

#include "compression_checks.hpp"

namespace assay::spec {
namespace {

using Op = NsaCompress;
using Asked = CompressionAsked<Op>;

std::vector<Call<Op>> plain_calls() {
  const CompressionProblem ragged = ragged_compression();
  return {Asked{.problem = {}}.call(), Asked{.problem = ragged}.call(),
          Asked{.problem = ragged, .inputs = Striding::padded}.call()};
}

TEST(NsaCompressConstraints, AreACompleteTable) {
  expect_a_complete_table<Op>("ops-transformer: attention/nsa_compress/docs/aclnnNsaCompress.md",
                              {"NSCF-C01", "NSCF-C01a"}, plain_calls());
  expect_exactly_the_ids<Op>("NSCF-C", 13,
                             {"NSCF-C01a", "NSCF-C01b", "NSCF-C02a", "NSCF-C03a", "NSCF-C05a",
                              "NSCF-C06a", "NSCF-C06b", "NSCF-C07a", "NSCF-C07b", "NSCF-C07c",
                              "NSCF-C07d", "NSCF-C08a", "NSCF-C08b", "NSCF-C10a", "NSCF-C13a"});
  expect_contradictions_in_notes<Op>("NSCF-Q", 3);
}

TEST(NsaCompressConstraints, StandingsAndCodesAreThoseOfThePage) {
  EXPECT_EQ(standing_as<Op>(Standing::disputed), (Ids{"NSCF-C05a", "NSCF-C06b"}));
  EXPECT_EQ(standing_as<Op>(Standing::upstream),
            (Ids{"NSCF-C01b", "NSCF-C08b", "NSCF-C09", "NSCF-C13a"}));
  EXPECT_EQ(standing_as<Op>(Standing::page).size(), Op::requirements().size() - 6);
  EXPECT_EQ(refused_with<Op>(Status::param_nullptr), Ids{"NSCF-C01"});
  EXPECT_EQ(refused_with<Op>(Status::param_invalid),
            (Ids{"NSCF-C02", "NSCF-C04", "NSCF-C05", "NSCF-C11"}));
  const auto& types = requirement_of<Op>("NSCF-C02");
  EXPECT_FALSE(types.status_on(NsaCompressEntryPoint::f1).any);
  EXPECT_TRUE(types.binds(NsaCompressEntryPoint::f1, {.upstream = Upstream::off}));
}

/// Sizes at the limits are legal. Adjacent windows are legal, too, although the documentation of
/// the gradient forbids them.
TEST(NsaCompressConstraints, LimitsAreLegalAndReached) {
  const Call<Op> call = Asked{
      .problem = {.heads = 128,
                  .seq = 128,
                  .head_dim = 256,
                  .compress_block_size = 128,
                  .compress_stride =
                      128}}.call();
  EXPECT_EQ(broken_by(call), Ids{});
  for (const std::string_view id : {"NSCF-C06", "NSCF-C07a", "NSCF-C07d"}) {
    EXPECT_TRUE(requirement_of<Op>(id).is_exercised_by(call)) << id;
    EXPECT_FALSE(requirement_of<Op>(id).is_exercised_by(plain_calls().front())) << id;
  }
}

RC_GTEST_PROP(NsaCompressConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  assert_a_legal_call(legal_compression<Op>(0));
}

/// The call of the example program in the documentation.
TEST(NsaCompressProblem, TheExampleOfThePageIsLegal) {
  const Call<Op> call =
      Asked{.problem = {.dtype = DType::fp16, .seq = 64, .compress_stride = 32}}.call();
  EXPECT_EQ(broken_by(call), Ids{});
  EXPECT_EQ(call.parameters.act_seq_len, std::vector<std::int64_t>{64});
  EXPECT_EQ(call.parameters.input.shape, (Shape{64, 1, 16}));
  EXPECT_EQ(call.parameters.weight.shape, (Shape{32, 1}));
  EXPECT_EQ(call.parameters.output.shape, (Shape{2, 1, 16}));
}

}  // namespace
}  // namespace assay::spec
