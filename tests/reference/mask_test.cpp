#include "assay/reference/mask.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// The mask of a problem, together with the tensor that it reads.
class OwnedMask {
 public:
  explicit OwnedMask(const Problem& p)
      : sides_(make_sides(p)), mask_(p, sides_.refer().atten_mask) {}
  OwnedMask(const OwnedMask&) = delete;
  const Mask* operator->() const { return &mask_; }
  const Mask& operator*() const { return mask_; }

 private:
  OwnedSides sides_;
  Mask mask_;
};

/// Returns the unmasked keys of query i as "first..last", or "-" if all keys are masked. The
/// unmasked keys must be consecutive.
std::string kept_range(const Mask& mask, const Problem& p, std::int64_t b, std::int64_t i) {
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < p.length_kv(b); ++j)
    if (mask.keeps(b, 0, i, j)) kept.push_back(j);
  if (kept.empty()) return "-";
  if (kept.back() - kept.front() + 1 != static_cast<std::int64_t>(kept.size())) return "gaps";
  return std::to_string(kept.front()) + ".." + std::to_string(kept.back());
}

std::vector<std::string> kept_ranges(const Problem& p, std::int64_t b = 0) {
  const OwnedMask mask(p);
  std::vector<std::string> ranges;
  for (std::int64_t i = 0; i < p.length_q(b); ++i) ranges.push_back(kept_range(*mask, p, b, i));
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

TEST(Mask, ModeFourMasksQueriesOutsideTheBandFully) {
  EXPECT_EQ(kept_ranges(band(4, 2, 0, 0)), (Ranges{"-", "-", "0..0", "1..1"}));
  EXPECT_EQ(kept_ranges(band(3, 3, -1, 2)), (Ranges{"1..2", "2..2", "-"}));
}

TEST(Mask, ModeFourWithoutLeftEdgeIsModeThree) {
  EXPECT_EQ(kept_ranges(band(5, 7, spec::unbounded_tokens, 0)), kept_ranges(causal(3, 5, 7)));
}

TEST(Mask, ModeFourTakesTheLargestTokensThereAre) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(kept_ranges(band(3, 2, most, most)), (Ranges{"0..1", "0..1", "0..1"}));
}

TEST(Mask, ModeSixKeepsAPrefixAndTheDiagonal) {
  Problem p = causal(6, 4, 6);
  p.prefix = {3};
  EXPECT_EQ(kept_ranges(p), (Ranges{"0..2", "0..3", "0..4", "0..5"}));
  p = causal(6, 6, 4);
  p.prefix = {1};
  EXPECT_EQ(kept_ranges(p), (Ranges{"0..0", "0..0", "0..0", "0..1", "0..2", "0..3"}));
  p.prefix = {0};
  EXPECT_EQ(kept_ranges(p), (Ranges{"-", "-", "0..0", "0..1", "0..2", "0..3"}));
}

TEST(Mask, ModeSixReadsThePrefixOfItsSequence) {
  Problem p = causal(6, 2, 3);
  p.batch = 2;
  p.prefix = {3, 0};
  EXPECT_EQ(kept_ranges(p, 0), (Ranges{"0..2", "0..2"}));
  EXPECT_EQ(kept_ranges(p, 1), (Ranges{"0..1", "0..2"}));
}

/// Returns a packed problem. `ends_q` and `ends_kv` are cumulative sums of the lengths, as in the
/// documentation.
Problem packed(std::int64_t mode, std::vector<std::int64_t> ends_q,
               std::vector<std::int64_t> ends_kv) {
  std::adjacent_difference(ends_q.begin(), ends_q.end(), ends_q.begin());
  std::adjacent_difference(ends_kv.begin(), ends_kv.end(), ends_kv.begin());
  return with_lengths(causal(mode, 0, 0), ends_q, ends_kv);
}

Problem packed_band(std::int64_t mode, const Problem& lengths, std::int64_t pre,
                    std::int64_t next) {
  Problem p = lengths;
  p.sparse_mode = mode;
  p.pre_tokens = pre;
  p.next_tokens = next;
  return p;
}

TEST(Mask, ModeSevenIsABandInTheLastSequence) {
  const Problem first_card = packed_band(7, packed(7, {3, 5}, {3, 9}), 6, -2);
  EXPECT_EQ(kept_ranges(first_card, 0), (Ranges{"0..0", "0..1", "0..2"}));
  EXPECT_EQ(kept_ranges(first_card, 1), (Ranges{"0..2", "0..3"}));
  const Problem second_card = packed(3, {2, 7, 11}, {6, 11, 15});
  EXPECT_EQ(kept_ranges(second_card, 0), (Ranges{"0..4", "0..5"}));
  EXPECT_EQ(kept_ranges(second_card, 1), (Ranges{"0..0", "0..1", "0..2", "0..3", "0..4"}));
}

TEST(Mask, ModeEightIsABandInTheFirstSequence) {
  const Problem first_card = packed(2, {3, 5}, {3, 7});
  EXPECT_EQ(kept_ranges(first_card, 1), (Ranges{"0..0", "0..1"}));
  const Problem second_card = packed_band(8, packed(8, {3, 8, 12}, {4, 9, 13}), 4, 1);
  EXPECT_EQ(kept_ranges(second_card, 0), (Ranges{"0..2", "0..3", "0..3"}));
  EXPECT_EQ(kept_ranges(second_card, 1), (Ranges{"0..0", "0..1", "0..2", "0..3", "0..4"}));
  EXPECT_EQ(kept_ranges(second_card, 2), (Ranges{"0..0", "0..1", "0..2", "0..3"}));
}

TEST(Mask, ModesSevenAndEightPassOverSequencesWithoutQueries) {
  const Problem lengths = with_lengths(causal(7, 0, 0), {0, 2, 2, 0}, {3, 3, 3, 3});
  const Problem last = packed_band(7, lengths, 9, -1), first = packed_band(8, lengths, 9, 0);
  EXPECT_EQ(kept_ranges(last, 1), (Ranges{"0..1", "0..2"}));   // mode 3
  EXPECT_EQ(kept_ranges(last, 2), (Ranges{"0..0", "0..1"}));   // the band ends one key earlier
  EXPECT_EQ(kept_ranges(first, 1), (Ranges{"0..1", "0..2"}));  // the band
  EXPECT_EQ(kept_ranges(first, 2), (Ranges{"0..0", "0..1"}));  // mode 2
  const Problem none = packed_band(7, with_lengths(causal(7, 0, 0), {0, 0}, {1, 2}), 1, 0);
  EXPECT_EQ(kept_ranges(none, 0), Ranges{});
}

TEST(Mask, ModeSevenInOneSequenceIsModeFour) {
  Problem p = band(5, 7, 3, 1);
  const Ranges four = kept_ranges(p);
  p.sparse_mode = 7;
  EXPECT_EQ(kept_ranges(p), four);
}

TEST(Mask, PlacesTheDiagonalByTheLengthsOfTheSequence) {
  const Problem p = with_lengths(causal(3, 0, 0), {2, 3, 2}, {3, 1, 0});
  EXPECT_EQ(kept_ranges(p, 0), (Ranges{"0..1", "0..2"}));
  EXPECT_EQ(kept_ranges(p, 1), (Ranges{"-", "-", "0..0"}));
  EXPECT_EQ(kept_ranges(p, 2), (Ranges{"-", "-"}));
}

TEST(Mask, ReadsAUserMaskAtThePositionsInsideTheSequence) {
  const Problem p = with_lengths(
      [] {
        Problem user = causal(1, 0, 0);
        user.atten_mask = spec::MaskShape::one_one_ss;
        return user;
      }(),
      {2, 1}, {2, 3});
  spec::Tensor tensor = spec::contiguous_tensor(spec::DType::uint8, {1, 1, 2, 3});
  tensor.store(1, 1);
  const Mask mask(p, &tensor);
  EXPECT_EQ(kept_range(mask, p, 0, 0), "0..0");
  EXPECT_EQ(kept_range(mask, p, 0, 1), "0..1");
  EXPECT_EQ(kept_range(mask, p, 1, 0), "gaps");
}

TEST(Mask, RangesOfLongSequencesAreThoseOfTheBand) {
  const std::int64_t length = 131072;
  const Problem p = band(length, length, 4096, 0);
  const OwnedMask mask(p);
  EXPECT_EQ(mask->kept_range(0, 100000), (KeyRange{100000 - 4096, 100001}));
  EXPECT_EQ(mask->kept_queries(0, 100000), (QueryRange{100000, 104097}));
  EXPECT_EQ(mask->kept_queries(0, length - 1), (QueryRange{length - 1, length}));
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

/// A mask for mode 0 or 1 with two batches, two heads and 2 x 3 scores. All elements of the mask
/// except one are 0.
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

/// Returns the indices (b, n, i, j) of all excluded scores.
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

TEST(Mask, ShapeSsIsTheSameForEveryBatchAndHead) {
  const Quadruples everywhere = {{0, 0, 1, 2}, {0, 1, 1, 2}, {1, 0, 1, 2}, {1, 1, 1, 2}};
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::ss, 5)), everywhere);
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::one_one_ss, 5)), everywhere);
}

TEST(Mask, ShapeB1SsIsTheSameForEveryHead) {
  EXPECT_EQ(excluded(user_mask(spec::MaskShape::b_one_ss, 6 + 4)),
            (Quadruples{{1, 0, 1, 1}, {1, 1, 1, 1}}));
}

TEST(Mask, ShapeBnssIsReadAtItsOwnElement) {
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

/// Expects that kept_range(b, i) and kept_queries(b, j) contain every unmasked pair. If `exact` is
/// false (the mode reads a user's mask), they may also contain masked pairs.
void expect_ranges_of_keeps(const Mask& mask, const Problem& p, std::int64_t b, bool exact) {
  for (std::int64_t i = 0; i < p.length_q(b); ++i)
    for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
      const KeyRange keys = mask.kept_range(b, i);
      const QueryRange queries = mask.kept_queries(b, j);
      const bool in_keys = keys.first <= j && j < keys.last;
      const bool in_queries = queries.first <= i && i < queries.last;
      EXPECT_TRUE(keys.first >= 0 && keys.last <= p.length_kv(b));
      EXPECT_TRUE(queries.first >= 0 && queries.last <= p.length_q(b));
      EXPECT_EQ(in_keys, in_queries) << b << ' ' << i << ' ' << j;
      const bool allowed =
          exact ? in_keys == mask.keeps(b, 0, i, j) : in_keys || !mask.keeps(b, 0, i, j);
      EXPECT_TRUE(allowed) << b << ' ' << i << ' ' << j;
    }
}

void expect_rows_of_keeps(const Mask& mask, const Problem& p, const spec::RowPosition& at) {
  for (std::int64_t first = 0; first <= p.length_kv(at.b); ++first) {
    std::vector<std::uint8_t> keep(static_cast<std::size_t>(p.length_kv(at.b) - first), 7);
    mask.read_row(at.b, at.n, at.s, keep, first);
    for (std::int64_t j = first; j < p.length_kv(at.b); ++j)
      EXPECT_EQ(keep[static_cast<std::size_t>(j - first)], mask.keeps(at.b, at.n, at.s, j) ? 1 : 0);
  }
}

TEST(Mask, RowsAndRangesAgreeWithKeeps) {
  for (const auto& [name, p] : small_problems()) {
    SCOPED_TRACE(name);
    const OwnedMask mask(p);
    const bool user_mask =
        p.atten_mask != spec::MaskShape::absent && p.atten_mask != spec::MaskShape::compressed;
    const spec::Extents queries = query_extents(p);
    for (std::int64_t row = 0; row < queries.rows(); ++row)
      expect_rows_of_keeps(*mask, p, queries.position(row));
    for (std::int64_t b = 0; b < p.batch; ++b) expect_ranges_of_keeps(*mask, p, b, !user_mask);
  }
}

TEST(Mask, RefusesAModeWithoutPredicateAMissingPrefixAndAShapeThatDoesNotFit) {
  const spec::Tensor compressed = spec::contiguous_tensor(spec::DType::boolean, {2048, 2048});
  EXPECT_THROW(Mask(causal(9, 4, 4), &compressed), std::invalid_argument);
  EXPECT_THROW(Mask(causal(6, 4, 4), &compressed), std::invalid_argument);
  EXPECT_THROW(Mask(causal(1, 4, 4), &compressed), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
