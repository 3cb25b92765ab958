#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "assay/reference/sparse_flash_attention_grad.hpp"

namespace assay::reference {
namespace {

using Problem = spec::SparseFlashAttentionGrad::Problem;
using Operands = SparseFlashOperands<double>;
using Gradient = SparseFlashAttentionGrad<double>;

/// Makes rows of 512 channels. In each row only the first channel is not 0.
std::vector<double> rows(std::initializer_list<double> first_channels) {
  std::vector<double> all;
  for (const double value : first_channels) {
    all.push_back(value);
    all.resize(all.size() + Problem::head_dim - 1, 0.0);
  }
  return all;
}

Problem one_query(std::int64_t keys, std::int64_t count) {
  return {.seq_q = 1,
          .seq_kv = keys,
          .head_dim_rope = 0,
          .scale_value = 0.5,
          .sparse_block_count = count};
}

TEST(SparseFlashAttentionGrad, TwoOfThreeKeysAgreeWithHandComputation) {
  // Computed by hand: the list names keys 2 and 0, both with score 0, so P = 1/2, 1/2. The output
  // is 2, dP = 2, 6, the row term is 4, and dS = -1, 1.
  const Operands operands{.query = rows({0}),
                          .key = rows({5, 77, 8}),
                          .value = rows({1, 99, 3}),
                          .d_out = rows({2}),
                          .out = rows({2}),
                          .query_rope = {},
                          .key_rope = {},
                          .softmax_max = {0},
                          .softmax_sum = {2},
                          .sparse_indices = {2, 0}};
  const Gradient gradient(one_query(3, 2), operands);
  EXPECT_EQ(gradient.query_row(0, 0, 0).d_query[0], 1.5);  // 0.5 (8 - 5)
  EXPECT_EQ(gradient.key_row(0, 0).d_value[0], 1);
  EXPECT_EQ(gradient.key_row(0, 1).d_value[0], 0);
  EXPECT_EQ(gradient.key_row(0, 1).d_key[0], 0);
  EXPECT_EQ(gradient.key_row(0, 2).d_value[0], 1);
  Problem merged = one_query(3, 2);
  merged.value_form = spec::SparseValue::merged;
  const auto row = Gradient(merged, operands).key_row(0, 2);
  EXPECT_EQ(row.d_key[0], 1);  // d_key is 0, because query is 0
  EXPECT_TRUE(row.d_value.empty());
}

TEST(SparseFlashAttentionGrad, ListsOfTheSpecificationGiveTheirKeys) {
  const auto keys = [](Problem p, std::int64_t s, std::vector<std::int64_t> lists) {
    p.sparse_block_count = std::ssize(lists) / p.seq_q;
    Operands operands;
    operands.sparse_indices = std::move(lists);
    return attended_keys(p, operands, 0, s);
  };
  using Keys = std::vector<std::int64_t>;
  // 20 keys in blocks of 8 keys: the last block has only 4 keys.
  const Problem tail{.seq_q = 1, .seq_kv = 20, .sparse_block_size = 8};
  EXPECT_EQ(keys(tail, 0, {1, 0, 2, -1}).size(), 20u);
  EXPECT_EQ(keys(tail, 0, {0, 2}), (Keys{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19}));
  // In sparse mode 3 with 3 queries and 1 key, only the last query attends to the key.
  const Problem late{.seq_q = 3, .seq_kv = 1, .sparse_mode = 3};
  EXPECT_EQ(keys(late, 1, {-1, -1, 0}), Keys());
  EXPECT_EQ(keys(late, 2, {-1, -1, 0}), Keys{0});
  // With 2 queries and 5 keys, query 0 attends to 4 keys.
  const Problem two{.seq_q = 2, .seq_kv = 5, .sparse_mode = 3};
  EXPECT_EQ(keys(two, 0, {3, 1, -1, -1, 0, 0}), (Keys{3, 1}));
  EXPECT_THROW(keys(two, 0, {4, 1, -1, -1, 0, 0}), std::invalid_argument);
}

/// A random case with two sequences of unequal lengths. In the first sequence, query 0 attends to
/// no key.
struct Random {
  Problem problem;
  Operands operands;

  explicit Random(spec::SparseValue form) {
    problem = {.layout = spec::Layout::tnd,
               .batch = 2,
               .heads_q = 2,
               .seq_q = 3,
               .seq_kv = 6,
               .lengths_q = {3, 2},
               .lengths_kv = {2, 6},
               .value_form = form,
               .scale_value = 0.0625,
               .sparse_block_size = 1,
               .sparse_block_count = 4,
               .sparse_mode = 3};
    std::mt19937 generator(5);
    std::normal_distribution<double> normal;
    const auto fill = [&](std::int64_t count) {
      std::vector<double> numbers(static_cast<std::size_t>(count));
      for (double& number : numbers) number = normal(generator);
      return numbers;
    };
    operands.query = fill(10 * 512), operands.d_out = fill(10 * 512);
    operands.key = fill(8 * 512), operands.value = operands.key;
    operands.query_rope = fill(10 * 64), operands.key_rope = fill(8 * 64);
    operands.sparse_indices = {-1, -1, -1, -1, 0, -1, -1, -1, 1, 0, -1, -1, 4, 0, 2, 1, 5, 3, 0, 2};
    add_forward();
  }
  void add_forward() {
    operands.out.clear(), operands.softmax_max.clear(), operands.softmax_sum.clear();
    for (std::int64_t row = 0; row < 10; ++row) {
      const auto [b, n, s] = query_extents(problem).position(row);
      const auto forward = forward_row(problem, operands, b, n, s);
      operands.out.insert(operands.out.end(), forward.out.begin(), forward.out.end());
      operands.softmax_max.push_back(forward.softmax_max);
      operands.softmax_sum.push_back(forward.softmax_sum);
    }
  }
  /// Returns the sum of d_out * out. The forward pass is computed here, independently of the
  /// reference.
  double loss() const {
    double loss = 0;
    for (std::int64_t row = 0; row < 10; ++row) {
      const auto [b, n, s] = query_extents(problem).position(row);
      const std::int64_t token = b == 0 ? s : 3 + s, first_key = b == 0 ? 0 : 2;
      const std::int64_t seen = b == 0 ? s : 5 + s;  // 2 - 3 + s + 1, and 6 - 2 + s + 1
      double total = 0, weighted = 0;
      for (std::int64_t slot = 0; slot < std::min<std::int64_t>(4, seen); ++slot) {
        const std::int64_t key =
            first_key + operands.sparse_indices[static_cast<std::size_t>(4 * token + slot)];
        double score = 0, product = 0;
        for (std::int64_t d = 0; d < 512; ++d) {
          score += at(operands.query, row * 512 + d) * at(operands.key, key * 512 + d);
          product += at(operands.d_out, row * 512 + d) * at(operands.value, key * 512 + d);
        }
        for (std::int64_t d = 0; d < 64; ++d)
          score += at(operands.query_rope, row * 64 + d) * at(operands.key_rope, key * 64 + d);
        const double weight = std::exp(0.0625 * score);
        total += weight, weighted += weight * product;
      }
      if (total > 0) loss += weighted / total;
    }
    return loss;
  }
  static double at(const std::vector<double>& numbers, std::int64_t k) {
    return numbers[static_cast<std::size_t>(k)];
  }
  /// Returns the central difference of the loss for element k. If key and value are one tensor
  /// (merged), both change.
  double slope(std::vector<double> Operands::*rows, std::size_t k) {
    constexpr double step = 0x1p-14;
    double& number = (operands.*rows)[k];
    const double before = number;
    const auto moved = [&](double to) {
      number = to;
      if (problem.is_merged()) operands.value = operands.key;
      return loss();
    };
    const double difference = moved(before + step) - moved(before - step);
    moved(before);
    return difference / (2 * step);
  }
};

TEST(SparseFlashAttentionGrad, AgreesWithDifferencesOfAnIndependentForward) {
  for (const auto form : {spec::SparseValue::given, spec::SparseValue::merged}) {
    Random random(form);
    const Gradient gradient(random.problem, random.operands);
    const auto near = [&](std::vector<double> Operands::*rows, std::int64_t k, double value) {
      EXPECT_NEAR(random.slope(rows, static_cast<std::size_t>(k)), value, 1e-8) << k;
    };
    for (std::int64_t row = 0; row < 10; ++row) {
      const auto [b, n, s] = query_extents(random.problem).position(row);
      const auto of = gradient.query_row(b, n, s);
      near(&Operands::query, row * 512 + 37, of.d_query[37]);
      near(&Operands::query_rope, row * 64 + 5, of.d_query_rope[5]);
    }
    for (std::int64_t row = 0; row < 8; ++row) {
      const auto [b, n, j] = key_extents(random.problem).position(row);
      const auto of = gradient.key_row(b, j);
      near(&Operands::key, row * 512 + 11, of.d_key[11]);
      near(&Operands::key_rope, row * 64 + 63, of.d_key_rope[63]);
      if (!random.problem.is_merged()) near(&Operands::value, row * 512 + 200, of.d_value[200]);
    }
  }
}

TEST(SparseFlashAttentionGrad, QueryWithoutKeyHasNoGradientAndAddsNothing) {
  Random random(spec::SparseValue::given);
  const auto before = Gradient(random.problem, random.operands).key_row(0, 0);
  for (const std::size_t row : {0u, 3u}) {  // query 0 of both heads of the first sequence
    random.operands.softmax_sum[row] = 0, random.operands.softmax_max[row] = NAN;
    for (std::size_t d = 0; d < 512; ++d) random.operands.d_out[row * 512 + d] = 1e30;
  }
  const Gradient gradient(random.problem, random.operands);
  EXPECT_EQ(gradient.query_row(0, 1, 0).d_query, std::vector<double>(512, 0.0));
  EXPECT_EQ(gradient.key_row(0, 0).d_key, before.d_key);
}

TEST(SparseFlashAttentionGrad, TheDefinitionInMoreDigitsAgrees) {
  const Random random(spec::SparseValue::given);
  const Gradient gradient(random.problem, random.operands);
  const SparseFlashAttentionGrad<Quad, double> quad(random.problem, random.operands);
  const auto in_quad = quad.key_row(1, 2);
  const auto in_double = gradient.key_row(1, 2);
  for (std::size_t d = 0; d < 512; ++d)
    EXPECT_NEAR(in_double.d_key[d], static_cast<double>(in_quad.d_key[d]), 1e-13);
}

}  // namespace
}  // namespace assay::reference
