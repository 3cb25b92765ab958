#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "attention/exact/score_code.hpp"
#include "attention/exact/sums.hpp"

namespace assay::conformance::exact {
namespace {

/// Equation E45 (the queries and keys of an exact case), computed by hand. Every query and key has
/// a code, and each bit of the code has its own channel. Key channels contain +-4, the constant
/// channel contains 16. For scale 1/8, query channels contain +-1024/8 = +-128, and the constant
/// channel contains -1024/32 = -32 per bit.
/// Equal bits add 4 * 128 = 512, different bits add -512, and the constant channel adds 16 * -32 =
/// -512 per bit. So the scaled score is 0 for the key with the query's code, and 128 lower for
/// every bit that differs.
TEST(ExactCasePencil, AQueryScoresMinus128ForEveryBitThatDiffers) {
  const ExactPlan plan = plan_of(
      {.problem = {.seq_q = 4, .seq_kv = 4, .head_dim = 16, .head_dim_v = 16, .scale_value = 0.125},
       .track = Track::exact},
      {});
  const ScoreCode score_code(plan, {.queries = 4, .keys = 4}, stream(1, Stream::exact_case));
  ASSERT_EQ(query_exponent(plan.scale), 0);
  ASSERT_GE(std::popcount(score_code.code_mask()), 2);
  for (const std::uint32_t care : {score_code.code_mask(), score_code.code_mask() & ~1U}) {
    const Choice choice{.code = score_code.code(1), .care = care};
    std::vector<std::int32_t> query(16, 0);
    score_code.spell_query(choice, query);
    std::int64_t constants = 0;
    for (std::size_t d = 0; d < 16; ++d) {
      const Channel& channel = score_code.channels()[d];
      if (channel.role == Role::constant) constants += query[d];
      if (channel.role != Role::code) continue;
      const bool is_set = (choice.code >> channel.index & 1) != 0;
      EXPECT_EQ(query[d], (care >> channel.index & 1) == 0 ? 0 : is_set ? 128 : -128);
    }
    EXPECT_EQ(constants, -32 * std::popcount(care));
    for (std::int64_t j = 0; j < 4; ++j) {
      std::vector<std::int32_t> key(16, 0);
      score_code.spell_key(j, key);
      std::int64_t score = 0;
      for (std::size_t d = 0; d < 16; ++d) score += std::int64_t{query[d]} * key[d];
      EXPECT_EQ(score, -8 * 128 * std::popcount((score_code.code(j) ^ choice.code) & care));
    }
  }
}

/// Computes the sums of one query (3, 0) that attends to the one key (5, 0), with dy = (5, 0) and
/// dS = 9. Returns the sum that exceeds a limit of `plan`, or nothing if all sums are within the
/// limits.
std::optional<Excess> excess_of(const ExactPlan& plan) {
  Group group{.head = {.queries = 1, .keys = 1},
              .query = Matrix(1, 2),
              .key = Matrix(1, 2),
              .value = Matrix(1, 2),
              .dy = Matrix(1, 2),
              .rows = {{.choice = {.keys = {0}}, .kept = 1, .dscore = {9}}}};
  group.query.row(0)[0] = 3;
  group.key.row(0)[0] = 5;
  group.dy.row(0)[0] = 5;
  return Sums(plan, group).excess();
}

/// Equation E46 (the bits that the sums of an exact case need), computed by hand. The score 3 * 5 =
/// 15 needs 4 bits. The row term 8 * 5 = 40 (in units of 1/8) needs 6 bits, and dS = 9 needs 4
/// bits. dq = 9 * 5, dk = 64 * 9 * 3 and dv = 8 * 5 are single products, which need no bits of an
/// accumulator.
/// With small keep_prob numbers exceed the range of fp16: dS = 2^13 * 9 = 73728 if keep_prob is
/// 2^-13, and dq = 2^11 * 45 = 92160 if keep_prob is 2^-11.
TEST(ExactCasePencil, BitsAndRangeOfSumsAreCounted) {
  const auto text = [](int sum_bits, int operand_bits, int drop_shift = 0) {
    const std::optional<Excess> excess =
        excess_of({.problem = {.dtype = spec::DType::fp16, .head_dim = 2, .head_dim_v = 2},
                   .drop_shift = drop_shift,
                   .operand_bits = operand_bits,
                   .sum_bits = sum_bits});
    return excess ? excess->text : std::string();
  };
  EXPECT_EQ(text(3, 4), "the score of query row 0 needs 4 bits, the limit is 3");
  EXPECT_EQ(text(5, 4), "the row term of query row 0 needs 6 bits, the limit is 5");
  EXPECT_EQ(text(6, 3), "dS of query row 0 needs 4 bits, the limit is 3");
  EXPECT_EQ(text(6, 4), "");
  EXPECT_EQ(text(6, 4, 13), "dS of query row 0 is 73728.000000, the limit of fp16 is 65504");
  EXPECT_EQ(text(6, 4, 11), "dq of row 0 is 92160.000000, the limit of fp16 is 65504");
}

/// Equation E46 (the bits that the sums of an exact case need), computed by hand. The queries 4 and
/// 1 attend to the same key 1, with dS = 1 and 2. So dk = 64 (1 * 4 + 2 * 1) = 256 + 128 = 3 * 128.
/// Both terms are multiples of 128, so dk needs two bits. Each score, dS and dq needs at most one
/// bit.
TEST(ExactCasePencil, SumsAreCountedOnTheirCommonGrid) {
  const auto text = [](int sum_bits) {
    Group group{.head = {.queries = 2, .keys = 1},
                .query = Matrix(2, 1),
                .key = Matrix(1, 1),
                .value = Matrix(1, 1),
                .dy = Matrix(2, 1),
                .rows = {{.choice = {.keys = {0}}, .kept = 1, .dscore = {1}},
                         {.choice = {.keys = {0}}, .kept = 1, .dscore = {2}}}};
    group.query.row(0)[0] = 4, group.query.row(1)[0] = 1;
    group.key.row(0)[0] = 1;
    const ExactPlan plan{.problem = {.seq_q = 2, .seq_kv = 1, .head_dim = 1, .head_dim_v = 1},
                         .sum_bits = sum_bits};
    const std::optional<Excess> excess = Sums(plan, group).excess();
    return excess ? excess->text : std::string();
  };
  EXPECT_EQ(text(1), "dk of row 0 needs 2 bits, the limit is 1");
  EXPECT_EQ(text(2), "");
}

}  // namespace
}  // namespace assay::conformance::exact
