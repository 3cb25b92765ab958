#include "assay/engine/blocks/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "block_problem.hpp"

/// Compares results that are computed block by block with the results for single pairs (equations
/// B1 to B4 of engine/blocks/README.md).
namespace assay::engine::attention {
namespace {

const Store bfloat16(8, -126, Direction::nearest_even);
const Store half(11, -14, Direction::nearest_even);

struct Named {
  std::string name;
  Head head;
  BlockShape shape;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

Named named(
    std::string name, const Draw& draw, const BlockShape& shape,
    const std::function<void(Head&)>& change = [](Head&) {}) {
  Named made = {std::move(name), random_head(draw), shape};
  made.head.call.stage = made.head.call.stage_prob = bfloat16;
  change(made.head);
  return made;
}

/// Each query i attends to the keys i, i + 1, ..., i + width - 1.
void attend_to_a_band(Head& head, std::int64_t width) {
  for (std::int64_t i = 0; i < head.queries; ++i)
    for (std::int64_t j = 0; j < head.keys; ++j)
      head.times[static_cast<std::size_t>(i * head.keys + j)] = i <= j && j < i + width ? 1 : 0;
}

std::vector<Named> heads() {
  const BlockShape small = {.rows = 16, .keys = 32};
  return {
      named("one_block", {.queries = 12, .keys = 30, .dim = 8, .dim_v = 8}, {}),
      named("default_blocks", {.queries = 200, .keys = 203, .dim = 9, .dim_v = 5, .seed = 2}, {}),
      named("many_blocks", {.queries = 37, .keys = 150, .dim = 33, .dim_v = 12, .seed = 3}, small),
      named("masked", {.queries = 40, .keys = 70, .attended = 0.2, .seed = 4}, small),
      named("empty_rows", {.queries = 40, .keys = 3, .attended = 0.3, .seed = 5}, small),
      named("dropout", {.queries = 40, .keys = 70, .keep_prob = 0.8, .seed = 6}, small),
      named("one_key", {.queries = 40, .keys = 1, .seed = 7}, small),
      named("one_query", {.queries = 1, .keys = 70, .seed = 8}, small),
      named("peaked", {.queries = 40, .keys = 70, .scale = 8, .size = 2, .seed = 9}, small),
      named("large_scale", {.queries = 40, .keys = 70, .scale = 500, .size = 4, .seed = 10}, small),
      named("subnormal", {.queries = 40, .keys = 70, .seed = 11}, small,
            [](Head& h) {
              for (double& x : h.dy) x = static_cast<float>(x * 0x1p-140);
              h.call.stage = h.call.stage_prob = half;
            }),
      named("outliers", {.queries = 40, .keys = 70, .seed = 12}, small,
            [](Head& h) {
              for (std::size_t k = 0; k < h.value.size(); k += 13) h.value[k] *= 0x1p60;
              give_forward(h);
            }),
      named("outliers_of_key_and_dy", {.queries = 40, .keys = 70, .seed = 16}, small,
            [](Head& h) {
              for (std::size_t k = 0; k < h.key.size(); k += 13) h.key[k] *= 0x1p5;
              for (std::size_t k = 0; k < h.dy.size(); k += 11) h.dy[k] *= 0x1p60;
              give_forward(h);
            }),
      named("twice", {.queries = 40, .keys = 70, .seed = 13}, small,
            [](Head& h) {
              for (std::size_t k = 0; k < h.times.size(); k += 3) h.times[k] = 2;
            }),
      named("band", {.queries = 90, .keys = 100, .seed = 15}, small,
            [](Head& h) {
              attend_to_a_band(h, 9);
              give_forward(h);
            }),
      named("all_stored", {.queries = 40, .keys = 70, .seed = 14}, small,
            [](Head& h) { h.call.score = h.call.prob = h.call.dprob = bfloat16; }),
  };
}

class Blocks : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Heads, Blocks, testing::ValuesIn(heads()),
                         [](const auto& tested) { return tested.param.name; });

/// Calls expect(result for single pairs, result of blocks) for every element of the gradients.
template <class A, class B, class Expect>
void for_each_element(const Gradients<A>& a, const Gradients<B>& b, Expect expect) {
  const auto each = [&](const std::vector<A>& of, const std::vector<B>& with, const char* name) {
    SCOPED_TRACE(name);
    ASSERT_EQ(of.size(), with.size());
    for (std::size_t k = 0; k < of.size(); ++k) expect(of[k], with[k]);
  };
  each(a.dq, b.dq, "dq");
  each(a.dk, b.dk, "dk");
  each(a.dv, b.dv, "dv");
}

/// Returns the largest bound of all elements. The block code uses float, so it loses terms that are
/// about 2^-80 of the largest one. Therefore the test allows errors of a tiny fraction of the
/// largest bound.
double largest_proven(const Gradients<Bound>& bounds) {
  double largest = 0;
  for (const auto* gradient : {&bounds.dq, &bounds.dk, &bounds.dv})
    for (const Bound& bound : *gradient) largest = std::max(largest, bound.proven);
  return largest;
}

// B1, B4.
TEST_P(Blocks, BoundsAreThoseOfPairsAndNeverLess) {
  const auto& [name, head, shape] = GetParam();
  const PairsOfHead pairs(head);
  const Output output = {.store = bfloat16};
  const auto expected = bounds(head, output);
  const double far_below = 0x1p-90 * largest_proven(expected);
  for_each_element(expected, block_bounds(head, pairs, output, shape),
                   [&](const Bound& each, const Bound& block) {
                     EXPECT_NEAR(block.value, each.value, 0x1p-27 * each.rigorous + far_below);
                     for (const auto member :
                          {&Bound::probable, &Bound::proven, &Bound::core, &Bound::rigorous}) {
                       ASSERT_TRUE(std::isfinite(block.*member));
                       EXPECT_GE(block.*member, each.*member * (1 - 1e-6));
                       // If a sum has few terms, its bound `core` is the difference of two float
                       // numbers that are both rounded up, so it can be slightly too large.
                       EXPECT_LE(block.*member, each.*member * (1 + 3e-5) + far_below);
                     }
                   });
}

// B3.
TEST_P(Blocks, EnclosuresHoldTheNaiveValue) {
  const auto& [name, head, shape] = GetParam();
  const PairsOfHead pairs(head);
  double closest = 0;
  for_each_element(plain_gradients<Naive>(head), block_enclosures(head, pairs, shape),
                   [&](const Naive& exact, const Enclosure<double>& block) {
                     const Naive error = abs(exact - Naive(block.value));
                     ASSERT_TRUE(std::isfinite(block.radius));
                     EXPECT_LE(error, Naive(block.radius));
                     if (block.radius > 0)
                       closest = std::max(closest, (error / block.radius).convert_to<double>());
                   });
  if (head.keys == 1) return;   // with one key nothing is rounded
  EXPECT_GT(closest, 0x1p-20);  // a very large radius would enclose everything
}

// B3.
TEST_P(Blocks, RadiiAreFarBelowBounds) {
  const auto& [name, head, shape] = GetParam();
  const PairsOfHead pairs(head);
  const auto bound = bounds(head, {});
  const double far_below = 0x1p-90 * largest_proven(bound);
  for_each_element(bound, block_enclosures(head, pairs, shape),
                   [&](const Bound& each, const Enclosure<double>& block) {
                     EXPECT_LE(block.radius, 0x1p-18 * each.proven + far_below);
                   });
}

// B4.
TEST_P(Blocks, BitsAreTheSameForAnyNumberOfThreads) {
  const auto& [name, head, shape] = GetParam();
  const PairsOfHead pairs(head);
  const auto one = block_bounds(head, pairs, {}, shape);
  const auto enclosed = block_enclosures(head, pairs, shape);
  for (const std::int64_t threads : {2, 3}) {
    BlockShape shared = shape;
    shared.threads = threads;
    for_each_element(one, block_bounds(head, pairs, {}, shared),
                     [](const Bound& a, const Bound& b) {
                       EXPECT_EQ(a.value, b.value);
                       EXPECT_EQ(a.probable, b.probable);
                       EXPECT_EQ(a.proven, b.proven);
                     });
    for_each_element(enclosed, block_enclosures(head, pairs, shared),
                     [](const Enclosure<double>& a, const Enclosure<double>& b) {
                       EXPECT_EQ(a.value, b.value);
                       EXPECT_EQ(a.radius, b.radius);
                     });
  }
}

// B4.
TEST_P(Blocks, BitsAreTheSameForAllInstructions) {
  const auto& [name, head, shape] = GetParam();
  const PairsOfHead pairs(head);
  BlockShape portable = shape;
  portable.instructions = Instructions::portable;
  const auto bound = block_bounds(head, pairs, {}, portable);
  const auto enclosed = block_enclosures(head, pairs, portable);
  for (const Instructions instructions : available_instructions()) {
    BlockShape other = shape;
    other.instructions = instructions;
    for_each_element(bound, block_bounds(head, pairs, {}, other),
                     [](const Bound& a, const Bound& b) {
                       EXPECT_EQ(a.value, b.value);
                       EXPECT_EQ(a.probable, b.probable);
                       EXPECT_EQ(a.proven, b.proven);
                     });
    for_each_element(enclosed, block_enclosures(head, pairs, other),
                     [](const Enclosure<double>& a, const Enclosure<double>& b) {
                       EXPECT_EQ(a.value, b.value);
                       EXPECT_EQ(a.radius, b.radius);
                     });
  }
}

TEST(BlockSweep, ARadiusThatIsAThousandTimesTooSmallIsCaught) {
  const Head head = random_head({.queries = 40, .keys = 70, .dim = 33, .seed = 21});
  const auto enclosed = block_enclosures(head, PairsOfHead(head), {});
  std::int64_t missed = 0;
  for_each_element(plain_gradients<Naive>(head), enclosed,
                   [&](const Naive& exact, const Enclosure<double>& block) {
                     if (abs(exact - Naive(block.value)) > Naive(0x1p-10 * block.radius)) ++missed;
                   });
  EXPECT_GT(missed, 100);
}

TEST(BlockSweep, CausalWindowsGiveWhatTheirMaskGives) {
  Head head = random_head({.queries = 40, .keys = 70, .seed = 22});
  std::vector<Range> windows;
  for (std::int64_t i = 0; i < head.queries; ++i) {
    windows.push_back({i / 2, 2 * i});
    for (std::int64_t j = 0; j < head.keys; ++j)
      head.times[static_cast<std::size_t>(i * head.keys + j)] = j >= i / 2 && j < 2 * i ? 1 : 0;
  }
  const BlockShape shape = {.rows = 16, .keys = 32};
  for_each_element(block_bounds(head, PairsOfHead(head), {}, shape),
                   block_bounds(head, Windows(windows), {}, shape),
                   [](const Bound& a, const Bound& b) {
                     EXPECT_EQ(a.value, b.value);
                     EXPECT_EQ(a.probable, b.probable);
                   });
}

// Keys with more than 2^20 elements are packed again for each block of rows.
TEST(BlockSweep, KeysThatAreNotKeptPackedGiveTheSameValues) {
  Head large = random_head({.queries = 3, .keys = 1100, .dim = 500, .dim_v = 480, .seed = 26});
  constexpr std::int64_t attended = 300;
  for (std::int64_t k = 0; k < std::ssize(large.times); ++k)
    if (k % large.keys >= attended) large.times[static_cast<std::size_t>(k)] = 0;
  give_forward(large);
  Head small = large;  // without the keys to which no query attends
  small.keys = attended;
  small.key.resize(static_cast<std::size_t>(attended * large.dim));
  small.value.resize(static_cast<std::size_t>(attended * large.dim_v));
  for (auto* of_pairs : {&small.times, &small.kappa})
    for (std::int64_t i = 0; i < large.queries; ++i) {
      const auto end = of_pairs->begin() + (i + 1) * attended;
      of_pairs->erase(end, std::min(end + large.keys - attended, of_pairs->end()));
    }
  const BlockShape shape = {.rows = 2, .keys = 96};
  const auto expected = block_bounds(small, PairsOfHead(small), {}, shape);
  auto values = block_bounds(large, PairsOfHead(large), {}, shape);
  values.dk.resize(expected.dk.size());
  values.dv.resize(expected.dv.size());
  for_each_element(values, expected,
                   [](const Bound& a, const Bound& b) { EXPECT_EQ(a.value, b.value); });
}

// The sums over queries of a key are freed as soon as no later query attends to it.
TEST(BlockSweep, KeysAreFinishedWhenNoLaterQueryAttendsToThem) {
  Head head = random_head({.queries = 64, .keys = 64, .seed = 27});
  attend_to_a_band(head, 8);
  const BlockShape shape = {.rows = 16, .keys = 32};
  const std::vector<std::size_t> dq = {0}, of_keys = {1, 2};
  std::vector<std::size_t> expected;
  // The last query of the first block of keys is in the second block of queries.
  for (const auto* one : {&dq, &of_keys, &dq, &dq, &dq, &of_keys})
    expected.insert(expected.end(), one->begin(), one->end());
  EXPECT_EQ(order_of_blocks(head, PairsOfHead(head), shape), expected);

  // Its group of queries, which a kernel sums separately, ends with the third block of queries.
  BlockShape in_groups = shape;
  in_groups.rows_of_part = 48;
  expected.clear();
  for (const auto* one : {&dq, &dq, &of_keys, &dq, &dq, &of_keys})
    expected.insert(expected.end(), one->begin(), one->end());
  EXPECT_EQ(order_of_blocks(head, PairsOfHead(head), in_groups), expected);
}

TEST(BlockSweep, ARowThatAttendsToNothingHasNoError) {
  Head head = random_head({.queries = 5, .keys = 40, .seed = 23});
  for (std::size_t k = 0; k < 40; ++k) head.times[k] = 0;
  const auto block = block_bounds(head, PairsOfHead(head), {}, {});
  for (std::size_t d = 0; d < static_cast<std::size_t>(head.dim); ++d) {
    EXPECT_EQ(block.dq[d].value, 0);
    EXPECT_EQ(block.dq[d].proven, 0);
  }
}

TEST(BlockSweep, FloatOverflowIsUnknownNotSmall) {
  Head head = random_head({.queries = 5, .keys = 40, .seed = 24});
  for (double& z : head.sum) z = 0x1p-140;  // not a softmax: P is outside the scaled range
  const auto block = block_bounds(head, PairsOfHead(head), {}, {});
  for (const Bound& bound : block.dv) EXPECT_EQ(bound.proven, HUGE_VAL);
}

TEST(BlockSweep, AnIndexSetThatThrowsEndsIt) {
  class Broken : public IndexSet {
   public:
    Range reach(std::int64_t) const override { return {0, 40}; }
    void counts(std::int64_t row, std::int64_t, std::span<double>) const override {
      if (row == 33) throw std::runtime_error("row 33");
    }
  };
  const Head head = random_head({.queries = 70, .keys = 40, .seed = 25});
  EXPECT_THROW(block_bounds(head, Broken(), {}, {.rows = 16, .keys = 32, .threads = 3}),
               std::runtime_error);
}

}  // namespace
}  // namespace assay::engine::attention
