#include "assay/reference/mask.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// "first..last" of the keys that query i keeps, which must be neighbours; "-" for none.
std::string kept_range(const Mask& mask, const Problem& p, std::int64_t i) {
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < p.seq_kv; ++j)
    if (mask.keeps(0, 0, i, j)) kept.push_back(j);
  if (kept.empty()) return "-";
  if (kept.back() - kept.front() + 1 != static_cast<std::int64_t>(kept.size())) return "gaps";
  return std::to_string(kept.front()) + ".." + std::to_string(kept.back());
}

std::vector<std::string> kept_ranges(const Problem& p) {
  const auto tensor = make_mask(p);
  const Mask mask(p, pointer(tensor));
  std::vector<std::string> ranges;
  for (std::int64_t i = 0; i < p.seq_q; ++i) ranges.push_back(kept_range(mask, p, i));
  return ranges;
}

using Ranges = std::vector<std::string>;

Problem causal(std::int64_t mode, std::int64_t seq_q, std::int64_t seq_kv) {
  Problem p;
  p.sparse_mode = mode;
  p.seq_q = seq_q;
  p.seq_kv = seq_kv;
  p.atten_mask = spec::MaskShape::compressed;
  return p;
}

TEST(Mask, ModeTwoEndsOnTheDiagonalFromTheFirstKey) {
  EXPECT_EQ(kept_ranges(causal(2, 4, 2)), (Ranges{"0..0", "0..1", "0..1", "0..1"}));
  EXPECT_EQ(kept_ranges(causal(2, 2, 4)), (Ranges{"0..0", "0..1"}));
}

TEST(Mask, ModeThreeEndsOnTheDiagonalToTheLastKey) {
  EXPECT_EQ(kept_ranges(causal(3, 4, 2)), (Ranges{"-", "-", "0..0", "0..1"}));
  EXPECT_EQ(kept_ranges(causal(3, 2, 6)), (Ranges{"0..4", "0..5"}));
}

Problem band(std::int64_t seq_q, std::int64_t seq_kv, std::int64_t pre, std::int64_t next) {
  Problem p = causal(4, seq_q, seq_kv);
  p.pre_tokens = pre;
  p.next_tokens = next;
  return p;
}

TEST(Mask, ModeFourKeepsABandAroundTheDiagonalToTheLastKey) {
  const Ranges kept = kept_ranges(band(13, 16, 6, 4));
  EXPECT_EQ(kept[0], "0..7");
  EXPECT_EQ(kept[3], "0..10");
  EXPECT_EQ(kept[4], "1..11");
  EXPECT_EQ(kept[8], "5..15");
  EXPECT_EQ(kept[9], "6..15");
  EXPECT_EQ(kept[12], "9..15");
}

TEST(Mask, ModeFourLeavesQueriesOutsideTheBandDead) {
  EXPECT_EQ(kept_ranges(band(4, 2, 0, 0)), (Ranges{"-", "-", "0..0", "1..1"}));
  EXPECT_EQ(kept_ranges(band(3, 3, -1, 2)), (Ranges{"1..2", "2..2", "-"}));
}

TEST(Mask, ModeFourWithoutLeftEdgeIsModeThree) {
  EXPECT_EQ(kept_ranges(band(5, 7, spec::unbounded_tokens, 0)), kept_ranges(causal(3, 5, 7)));
}

TEST(Mask, ReadRowAgreesWithKeepsInABand) {
  const Problem p = band(13, 16, 6, 4);
  const auto tensor = make_mask(p);
  const Mask mask(p, pointer(tensor));
  std::vector<std::uint8_t> row(16);
  for (std::int64_t i = 0; i < 13; ++i) {
    mask.read_row(0, 0, i, row);
    for (std::int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(row[static_cast<std::size_t>(j)] != 0, mask.keeps(0, 0, i, j)) << i << ' ' << j;
  }
}

TEST(Mask, ModesTwoAndThreeCoincideForEqualLengths) {
  EXPECT_EQ(kept_ranges(causal(2, 5, 5)), kept_ranges(causal(3, 5, 5)));
}

TEST(Mask, KeepsEverythingWithoutATensorWhateverTheMode) {
  for (std::int64_t mode = 0; mode <= 8; ++mode) {
    Problem p = causal(mode, 3, 2);
    p.atten_mask = spec::MaskShape::absent;
    EXPECT_EQ(kept_ranges(p), (Ranges{"0..1", "0..1", "0..1"})) << mode;
  }
}

TEST(Mask, TakesATensorOfRankZeroForNone) {
  const spec::Tensor scalar = spec::contiguous_tensor(spec::DType::boolean, {});
  EXPECT_TRUE(Mask(causal(3, 4, 2), &scalar).keeps(0, 0, 0, 1));
}

/// Mode 0 or 1, two batches, two heads, 2 x 3 scores; in the mask every element is 0 but one.
struct UserMask {
  Problem problem;
  spec::Tensor tensor;
};

UserMask user_mask(spec::MaskShape shape, std::int64_t excluded_element) {
  Problem p = causal(1, 2, 3);
  p.batch = p.heads_q = p.heads_kv = 2;
  p.atten_mask = shape;
  spec::Tensor tensor = spec::contiguous_tensor(spec::DType::uint8, spec::mask_shape(p));
  tensor.store(excluded_element, 1);
  return {p, tensor};
}

/// (b, n, i, j) of every excluded score.
std::vector<std::vector<std::int64_t>> excluded(const UserMask& user) {
  const Mask mask(user.problem, &user.tensor);
  std::vector<std::vector<std::int64_t>> found;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          if (!mask.keeps(b, n, i, j)) found.push_back({b, n, i, j});
  return found;
}

using Quadruples = std::vector<std::vector<std::int64_t>>;

TEST(Mask, OfShapeSsIsTheSameForEveryBatchAndHead) {
  const Quadruples everywhere = {{0, 0, 1, 2}, {0, 1, 1, 2}, {1, 0, 1, 2}, {1, 1, 1, 2}};
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::ss, 5)), everywhere);
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::one_one_ss, 5)), everywhere);
}

TEST(Mask, OfShapeB1SsIsTheSameForEveryHead) {
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::b_one_ss, 6 + 4)),
            (Quadruples{{1, 0, 1, 1}, {1, 1, 1, 1}}));
}

TEST(Mask, OfShapeBnssIsReadAtItsOwnElement) {
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::bnss, 12 + 6 + 1)), (Quadruples{{1, 1, 0, 1}}));
}

TEST(Mask, FollowsStridesAndOffset) {
  UserMask user = user_mask(spec::MaskShape::ss, 0);
  user.tensor.strides = {1, 2};  // transposed: element (i, j) at 1 + i + 2 j
  user.tensor.offset = 1;
  user.tensor.bytes.assign(8, std::byte{0});
  user.tensor.store(1 + 1 + 2 * 2, 1);
  EXPECT_EQ(excluded(user).front(), (std::vector<std::int64_t>{0, 0, 1, 2}));
  EXPECT_EQ(excluded(user).size(), 4u);
}

TEST(Mask, ReadsEveryNonZeroByteAsExcluded) {
  UserMask user = user_mask(spec::MaskShape::ss, 0);
  user.tensor.store(0, 255);
  EXPECT_EQ(excluded(user).size(), 4u);
}

TEST(Mask, RowAndEndAgreeWithKeeps) {
  for (const auto& [name, p] : small_problems()) {
    const auto tensor = make_mask(p);
    const Mask mask(p, pointer(tensor));
    std::vector<std::uint8_t> keep(static_cast<std::size_t>(p.seq_kv));
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (std::int64_t i = 0; i < p.seq_q; ++i) {
          mask.read_row(b, n, i, keep);
          for (std::int64_t j = 0; j < p.seq_kv; ++j) {
            ASSERT_EQ(keep[static_cast<std::size_t>(j)] != 0, mask.keeps(b, n, i, j)) << name;
            ASSERT_TRUE(j < mask.kept_end(i) || !mask.keeps(b, n, i, j)) << name;
          }
        }
  }
}

TEST(Mask, RefusesAModeWithoutPredicateAndAShapeThatDoesNotFit) {
  const auto compressed = make_mask(causal(2, 4, 4));
  EXPECT_THROW(Mask(causal(9, 4, 4), &*compressed), std::invalid_argument);
  EXPECT_THROW(Mask(causal(1, 4, 4), &*compressed), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
