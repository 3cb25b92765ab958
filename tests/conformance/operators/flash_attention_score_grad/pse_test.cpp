#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "view_values.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;
using spec::DropMask;
using spec::DType;
using spec::Layout;
using spec::PseShape;
using spec::Striding;

FlashCase pse_case(PseShape shape, std::int64_t type = 1) {
  FlashCase c;
  c.entry_point = spec::FlashEntryPoint::g2;
  c.problem = {.dtype = DType::fp32,
               .batch = 2,
               .heads_q = 3,
               .heads_kv = 3,
               .seq_q = 5,
               .seq_kv = 6,
               .scale_value = 0.25,
               .pse_type = type,
               .pse_shift = shape};
  return c;
}

FlashCase packed(FlashCase c) {
  c.entry_point = spec::FlashEntryPoint::u2;
  c.problem.input_layout = Layout::tnd;
  c.problem.lengths_q = {2, 5};
  c.problem.lengths_kv = {6, 3};
  return c;
}

/// Returns the element of the view at `index`.
double element(const spec::Tensor& tensor, const spec::Shape& index) {
  std::int64_t at = tensor.offset;
  for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * tensor.strides[axis];
  return tensor.load(at);
}

double deviation(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

TEST(Pse, AbsentOneHasNoTensor) {
  EXPECT_FALSE(make_pse(FlashCase{}).has_value());
  EXPECT_FALSE(make_drop_mask(FlashCase{}).has_value());
}

TEST(Pse, HasTheShapeAndTypeOfTheDocuments) {
  EXPECT_EQ(make_pse(pse_case(PseShape::bnss))->shape, (spec::Shape{2, 3, 5, 6}));
  EXPECT_EQ(make_pse(pse_case(PseShape::bn1s))->shape, (spec::Shape{2, 3, 1, 6}));
  EXPECT_EQ(make_pse(pse_case(PseShape::one_nss))->shape, (spec::Shape{1, 3, 5, 6}));
  EXPECT_EQ(make_pse(packed(pse_case(PseShape::packed_bn1s)))->shape, (spec::Shape{27}));
  EXPECT_EQ(make_pse(packed(pse_case(PseShape::packed_bnss)))->shape, (spec::Shape{81}));
  FlashCase half = pse_case(PseShape::bnss);
  half.problem.dtype = DType::fp16;
  EXPECT_EQ(make_pse(half)->dtype, DType::fp16);
  half.problem.pse_type = 2;
  half.problem.pse_shift = PseShape::slopes_bn;
  EXPECT_EQ(make_pse(half)->dtype, DType::fp32);
}

TEST(Pse, IsAsLargeAsTheScoresThatItJoins) {
  for (const auto& [type, scale, wanted] : {std::tuple{0, 0.125, 1.0},
                                            {1, 0.125, 8.0},
                                            {1, -0.125, 8.0},
                                            {1, 0.0, 1.0},
                                            {1, 1e-9, 64.0},
                                            {1, 1e9, 0x1p-6}}) {
    FlashCase c = pse_case(PseShape::bnss, type);
    c.problem.seq_q = c.problem.seq_kv = 40;
    c.problem.scale_value = scale;
    EXPECT_NEAR(deviation(values(*make_pse(c))) / wanted, 1, 0.1) << type << " " << scale;
  }
}

TEST(Pse, MaskingProfileHidesKeysButNeverKeyZero) {
  constexpr std::int64_t queries = 40, keys = 500, tile = 64;
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32}) {
    FlashCase c = pse_case(PseShape::bnss);
    c.problem.dtype = dtype;
    c.problem.seq_q = queries, c.problem.seq_kv = keys;
    c.profile = "masking_pse";
    const auto bias = *make_pse(c);
    // With pseType 1 the kernel multiplies the bias by the scale, here 1/4.
    const double lowest = -largest_finite(dtype), billion = std::max(-4e9, lowest);
    std::set<double> hiding;
    std::int64_t hidden = 0, hidden_tiles = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
      std::int64_t together = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        const double x = element(bias, {1, 2, i, j});
        if (j % tile == 0) together = 0;
        if (x > -100) continue;
        EXPECT_NE(j, 0);
        hiding.insert(x);
        ++hidden;
        if (++together == tile) ++hidden_tiles;
      }
    }
    EXPECT_EQ(*hiding.begin(), lowest);
    EXPECT_NEAR(*hiding.rbegin() / billion, 1, 0.01);
    EXPECT_LE(hiding.size(), 2u);
    EXPECT_GT(hidden, queries * keys / 4);
    EXPECT_LT(hidden, queries * keys * 2 / 3);
    EXPECT_GE(hidden_tiles, queries);
  }
}

TEST(Pse, DiffersIfItsShapeDistinguishesRows) {
  const auto bias = *make_pse(pse_case(PseShape::bnss));
  const double first = element(bias, {0, 0, 0, 0});
  for (const spec::Shape& index :
       {spec::Shape{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})
    EXPECT_NE(first, element(bias, index));
  EXPECT_EQ(values(bias), values(*make_pse(pse_case(PseShape::bnss))));
  FlashCase fresh = pse_case(PseShape::bnss);
  fresh.seed = 2;
  EXPECT_NE(values(bias), values(*make_pse(fresh)));
}

TEST(Pse, PackedOneHoldsSequenceBySequenceWithoutGaps) {
  const FlashCase c = packed(pse_case(PseShape::packed_bnss));
  const auto bias = values(*make_pse(c));
  const auto padded = *make_pse(pse_case(PseShape::bnss));
  std::size_t k = 0;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t n = 0; n < 3; ++n)
      for (std::int64_t i = 0; i < c.problem.length_q(b); ++i)
        for (std::int64_t j = 0; j < c.problem.length_kv(b); ++j)
          EXPECT_EQ(bias.at(k++), element(padded, {b, n, i, j}));
  EXPECT_EQ(k, bias.size());
  const auto one = values(*make_pse(packed(pse_case(PseShape::packed_bn1s))));
  for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(one[j], bias[j]);
  EXPECT_EQ(one[18], bias[36]) << "expected head 0 of the second sequence";
}

TEST(Pse, PackedSequencesUseTheExtentsOfTheLongest) {
  for (const PseShape shape : {PseShape::bnss, PseShape::bn1s, PseShape::one_nss})
    EXPECT_EQ(values(*make_pse(packed(pse_case(shape)))), values(*make_pse(pse_case(shape))));
}

/// Expects that the bias of every pair on or below the diagonal depends only on i - j.
void expect_one_diagonal(const spec::Tensor& bias, std::int64_t first_query) {
  const spec::Shape& shape = bias.shape;
  std::vector<double> of_distance(static_cast<std::size_t>(first_query + shape[2]), NAN);
  for (std::int64_t r = 0; r < shape[2]; r += 3)
    for (std::int64_t j = 0; j <= std::min(first_query + r, shape[3] - 1); ++j) {
      double& wanted = of_distance[static_cast<std::size_t>(first_query + r - j)];
      const double found = element(bias, {0, 1, r, j});
      if (std::isnan(wanted)) wanted = found;
      ASSERT_EQ(found, wanted) << r << " " << j;
    }
  const std::set<double> distinct(of_distance.begin(), of_distance.end());
  EXPECT_GT(distinct.size(), of_distance.size() / 2);
}

TEST(Pse, CompressedBiasDependsOnlyOnTheDistance) {
  FlashCase c = pse_case(PseShape::one_nhs);
  c.problem.seq_q = c.problem.seq_kv = 1100;
  c.inputs = Striding::padded;
  const auto bias = *make_pse(c);
  EXPECT_EQ(bias.shape, (spec::Shape{1, 3, 1024, 1100}));
  expect_one_diagonal(bias, 76);
  c.problem.batch = 1;
  c.problem.pse_shift = PseShape::bnhs;
  EXPECT_EQ(values(*make_pse(c)), values(bias)) << "with one sequence the shapes must be the same";
}

TEST(Pse, CompressedBiasOfPackedSequencesHasColumnsOfTheLongest) {
  FlashCase c = packed(pse_case(PseShape::one_nhs));
  const auto bias = *make_pse(c);
  ASSERT_EQ(bias.shape, (spec::Shape{1, 3, 1024, 6}));
  // All pairs of query i and key j with the same i - j have the same bias. It is stored in column 0
  // at row i - j + 1018, and in every other column c again, c rows lower.
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 6; ++j) {
      const std::int64_t row = i - j - (6 - 1024);
      for (std::int64_t column = 0; column < 6 && row + column < 1024; ++column)
        EXPECT_EQ(element(bias, {0, 2, row, 0}), element(bias, {0, 2, row + column, column}));
    }
}

std::vector<double> slopes_of(PseShape shape, std::int64_t heads, std::uint64_t seed) {
  FlashCase c = pse_case(shape, 2);
  c.problem.heads_q = c.problem.heads_kv = heads;
  c.seed = seed;
  return values(*make_pse(c));
}

bool is_ordinary(double slope) { return std::abs(slope) >= 0x1p-8 && std::abs(slope) < 1; }
bool is_large(double slope) { return std::abs(slope) >= 2 && std::abs(slope) < 16; }
bool is_power_of_two(double slope) {
  int exponent = 0;
  return std::abs(std::frexp(slope, &exponent)) == 0.5;
}

TEST(Pse, SlopesAreOfEitherSignZeroOrLarge) {
  int zeros = 0, negative = 0, large = 0, powers = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double slope : slopes_of(PseShape::slopes_bn, 16, seed)) {
      EXPECT_TRUE(slope == 0 || is_ordinary(slope) || is_large(slope)) << slope;
      zeros += slope == 0 ? 1 : 0;
      negative += slope < 0 ? 1 : 0;
      large += is_large(slope) ? 1 : 0;
      powers += is_power_of_two(slope) ? 1 : 0;
    }
  const std::vector<int> counts = {zeros, negative, large, powers};
  for (const int count : counts) {
    EXPECT_GT(count, 640 / 20);
    EXPECT_LT(count, 640 / 2);
  }
}

TEST(Pse, SlopesDifferInEveryHead) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto slopes = slopes_of(PseShape::slopes_bn, 16, seed);
    ASSERT_EQ(slopes.size(), 32u);
    for (const std::size_t first : {std::size_t{0}, std::size_t{16}}) {
      std::vector<double> heads(slopes.begin() + static_cast<std::ptrdiff_t>(first),
                                slopes.begin() + static_cast<std::ptrdiff_t>(first + 16));
      std::erase(heads, 0.0);
      EXPECT_EQ(std::set<double>(heads.begin(), heads.end()).size(), heads.size()) << seed;
    }
    EXPECT_EQ(slopes_of(PseShape::slopes_n, 16, seed),
              std::vector<double>(slopes.begin(), slopes.begin() + 16));
  }
}

TEST(Pse, OneHeadOfASequenceHasAnOrdinarySlope) {
  for (const std::int64_t heads : {1, 2, 5})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto slopes = slopes_of(PseShape::slopes_n, heads, seed);
      EXPECT_TRUE(std::ranges::any_of(slopes, is_ordinary)) << heads << " " << seed;
    }
}

TEST(Pse, StorageOutsideTheViewHoldsNaN) {
  for (const PseShape shape : {PseShape::bnss, PseShape::bn1s, PseShape::slopes_bn}) {
    FlashCase c = pse_case(shape, shape == PseShape::slopes_bn ? 3 : 0);
    const auto dense = values(*make_pse(c));
    c.inputs = Striding::transposed;
    EXPECT_EQ(values(*make_pse(c)), dense);
    c.inputs = Striding::padded;
    const auto bias = *make_pse(c);
    EXPECT_EQ(values(bias), dense);
    const auto viewed = viewed_elements(bias);
    const auto storage = static_cast<std::int64_t>(bias.bytes.size()) / 4;
    EXPECT_GT(storage, static_cast<std::int64_t>(viewed.size()));
    for (std::int64_t at = 0; at < storage; ++at)
      EXPECT_EQ(std::isnan(bias.load(at)), !std::ranges::binary_search(viewed, at));
  }
}

FlashCase drop_case(const std::string& pattern, DropMask shape) {
  FlashCase c = packed(pse_case(PseShape::absent));
  c.problem.keep_prob = 0.75;
  c.problem.drop_mask = shape;
  c.patterns.drop = pattern;
  return c;
}

/// Returns the mask bits of the scores as text, followed by the padding bits.
std::string bits(const FlashCase& c) {
  const auto mask = make_drop_mask(c);
  std::string text;
  for (const std::byte byte : mask.value().bytes)
    for (int bit = 0; bit < 8; ++bit)
      text += ((byte >> bit) & std::byte{1}) != std::byte{0} ? '1' : '.';
  return text;
}

/// Returns the mask bits for the scores of drop_case as 6 rows of 6 keys and 15 rows of 3 keys.
std::vector<std::string> rows_of(const std::string& pattern, double keep_prob) {
  FlashCase c = drop_case(pattern, DropMask::exact);
  c.problem.keep_prob = keep_prob;
  const std::string all = bits(c);
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < 6; ++row) rows.push_back(all.substr(6 * row, 6));
  for (std::size_t row = 0; row < 15; ++row) rows.push_back(all.substr(36 + 3 * row, 3));
  return rows;
}

TEST(DropMask, PatternsMatchTheirDescriptions) {
  EXPECT_EQ(bits(drop_case("all_kept", DropMask::exact)).substr(0, 81), std::string(81, '1'));
  EXPECT_EQ(bits(drop_case("all_dropped", DropMask::exact)).substr(0, 81), std::string(81, '.'));
  std::set<std::string> kinds;
  for (const std::string& row : rows_of("whole_rows", 0.5)) kinds.insert(row);
  EXPECT_EQ(kinds, (std::set<std::string>{"111111", "......", "111", "..."}));
  for (const std::string& row : rows_of("last_bits", 0.5)) EXPECT_EQ(row.back(), '.') << row;
  for (const std::string& row : rows_of("last_bits", 0.875)) {
    const std::size_t dropped = row.find('.');
    EXPECT_TRUE(dropped == std::string::npos || dropped + 1 == row.size()) << row;
  }
}

TEST(DropMask, HoldsOnesAloneWhereNothingIsDropped) {
  for (const InputProfile& pattern : flash::drop_patterns())
    for (const std::string& row : rows_of(std::string(pattern.name), 1))
      EXPECT_EQ(row, std::string(row.size(), '1')) << pattern.name;
}

TEST(DropMask, KeepsWithProbabilityKeepProb) {
  for (const std::string pattern : {"random", "whole_rows", "last_bits"})
    for (const double keep_prob : {0.01, 0.5, 0.9, 0.999}) {
      FlashCase c = drop_case(pattern, DropMask::exact);
      c.problem.lengths_q = {200, 300}, c.problem.lengths_kv = {150, 70};
      c.problem.seq_q = 300, c.problem.seq_kv = 150;
      c.problem.keep_prob = keep_prob;
      const std::string all = bits(c).substr(0, 3 * (200 * 150 + 300 * 70));
      const auto count = static_cast<double>(all.size());
      const auto kept = static_cast<double>(std::ranges::count(all, '1'));
      const double alike = pattern == "whole_rows" ? 150 : 1;
      EXPECT_NEAR(kept / count, keep_prob,
                  5 * std::sqrt(alike * keep_prob * (1 - keep_prob) / count))
          << pattern << ' ' << keep_prob;
    }
}

TEST(DropMask, BitsAfterTheScoresArePoison) {
  const FlashCase exact = drop_case("random", DropMask::exact);
  EXPECT_EQ(bits(exact).size(), 88u);
  EXPECT_EQ(bits(exact).substr(81), ".1..1.1") << "expected bits 1 to 7 of 0xa5";
  const FlashCase spare = drop_case("random", DropMask::granules);
  const auto mask = *make_drop_mask(spare);
  ASSERT_EQ(mask.bytes.size(), 16u + 32);
  for (std::size_t k = 11; k < mask.bytes.size(); ++k) EXPECT_EQ(mask.bytes[k], std::byte{0xa5});
  EXPECT_EQ(bits(spare).substr(0, 88), bits(exact));
}

TEST(DropMask, IsOfItsSeed) {
  FlashCase c = drop_case("random", DropMask::exact);
  const std::string first = bits(c);
  c.problem.keep_prob = 0.9;
  const std::string more = bits(c);
  for (std::size_t k = 0; k < 81; ++k) EXPECT_LE(first[k] == '1', more[k] == '1');
  c.seed = 9;
  EXPECT_NE(more, bits(c));
}

}  // namespace
}  // namespace assay::conformance
