#include "assay/conformance/attention/forward.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "assay/reference/exp.hpp"
#include "assay/reference/forward.hpp"
#include "assay/spec/dtype.hpp"
#include "cases.hpp"
#include "scarce_threads.hpp"

namespace assay::conformance {
namespace {

using namespace reference;

/// A problem with lengths that are larger than a panel of keys and a block of queries, and not
/// multiples of their sizes.
Problem ragged(std::int64_t mode, spec::MaskShape mask) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.heads_q = 2;
  p.seq_q = 35;
  p.seq_kv = 150;
  p.head_dim = 18;
  p.head_dim_v = 13;
  p.scale_value = 0.3;
  p.sparse_mode = mode;
  p.atten_mask = mask;
  return p;
}

std::vector<NamedProblem> problems() {
  std::vector<NamedProblem> list = small_problems();
  list.push_back({"ragged_without_mask", ragged(0, spec::MaskShape::absent)});
  list.push_back({"ragged_user_mask", ragged(1, spec::MaskShape::bnss)});
  list.push_back({"ragged_mode_2", ragged(2, spec::MaskShape::compressed)});
  list.push_back({"ragged_mode_3", ragged(3, spec::MaskShape::compressed)});
  list.push_back({"ragged_dead_rows", ragged(3, spec::MaskShape::compressed)});
  std::swap(list.back().problem.seq_q, list.back().problem.seq_kv);
  list.push_back({"ragged_bias", ragged(2, spec::MaskShape::compressed)});
  list.back().problem.pse_shift = spec::PseShape::bnss;
  list.push_back({"ragged_bias_after_scale", ragged(0, spec::MaskShape::absent)});
  list.back().problem.pse_shift = spec::PseShape::slopes_n;
  list.back().problem.pse_type = 3;
  list.push_back({"ragged_dropout_and_rope", ragged(0, spec::MaskShape::absent)});
  list.back().problem.keep_prob = 0.75;
  list.back().problem.drop_mask = spec::DropMask::granules;
  list.back().problem.head_dim_rope = 7;
  list.push_back({"narrow_band", ragged(4, spec::MaskShape::compressed)});
  list.back().problem.seq_q = 300;
  list.back().problem.seq_kv = 250;
  list.back().problem.pre_tokens = 20;
  list.back().problem.next_tokens = 3;
  const Problem band = list.back().problem;
  list.push_back({"packed_sequences", with_lengths(band, {70, 0, 1, 130}, {129, 5, 64, 90})});
  list.back().problem.pse_shift = spec::PseShape::packed_bnss;
  list.push_back({"band_in_the_last_sequence", list.back().problem});
  list.back().problem.sparse_mode = 7;
  list.push_back({"wide_values", ragged(0, spec::MaskShape::absent)});
  list.back().problem.head_dim = list.back().problem.head_dim_v = 144;
  list.push_back({"large_scores", ragged(2, spec::MaskShape::compressed)});
  list.back().problem.scale_value = 40.0;
  return list;
}

class BlockedForward : public testing::TestWithParam<NamedProblem> {};
INSTANTIATE_TEST_SUITE_P(Shapes, BlockedForward, testing::ValuesIn(problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(BlockedForward, AgreesWithTheDefinitionIn113Bits) {
  const Problem& p = GetParam().problem;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const Forward<double> blocked = blocked_forward(p, inputs);
  const Forward<Quad> exact = forward(p, operands_of<Quad>(p, inputs), side_inputs(inputs));
  ASSERT_EQ(blocked.softmax_max.size(), exact.softmax_max.size());
  ASSERT_EQ(blocked.attention_out.size(), exact.attention_out.size());
  // Upper bound of the error. |score| <= |scale| head_dim, and each term is rounded twice. The bias
  // is below 1 if it comes from a tensor, and below the distance of query and key if it comes from
  // slopes. The errors of the exponential and of the sums are added.
  const auto dim = static_cast<double>(p.head_dim + p.head_dim_rope);
  const auto keys = static_cast<double>(p.seq_kv);
  const double bias = p.pse_shift == spec::PseShape::absent ? 0.0
                      : p.pse_type < 2                      ? std::abs(p.scale_value) + 1.0
                                       : static_cast<double>(p.seq_q + p.seq_kv + 10);
  const double score_error = (2.0 * dim * std::abs(p.scale_value) * dim + 4.0 * bias) * 0x1p-53;
  const double limit = 2.0 * score_error + 2.0 * exp_error + 2.0 * keys * 0x1p-53;
  for (std::size_t row = 0; row < exact.softmax_max.size(); ++row) {
    const double max = blocked.softmax_max[row];
    EXPECT_EQ(max, static_cast<double>(static_cast<float>(max)));
    const auto exact_max = static_cast<double>(exact.softmax_max[row]);
    EXPECT_LE(std::abs(max - exact_max), std::abs(exact_max) * 0x1p-24 + score_error);
    if (exact.softmax_max[row] == -std::numeric_limits<float>::max()) {
      EXPECT_EQ(blocked.softmax_sum[row], exact.softmax_sum[row]);
      continue;
    }
    // The exact sum of the softmax, rescaled to the rounded maximum.
    const Quad sum = exact.softmax_sum[row] * exp(Quad(exact.softmax_max[row] - Quad(max)));
    EXPECT_NEAR(static_cast<double>(Quad(blocked.softmax_sum[row]) / sum), 1.0, limit);
  }
  for (std::size_t k = 0; k < exact.attention_out.size(); ++k)
    EXPECT_NEAR(blocked.attention_out[k], static_cast<double>(exact.attention_out[k]), 2.0 * limit);
}

TEST_P(BlockedForward, HasTheSameBitsOnAnyNumberOfThreads) {
  const Problem& p = GetParam().problem;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const Forward<double> one = blocked_forward(p, inputs, 1);
  for (const int threads : {2, 3, 7}) {
    const Forward<double> several = blocked_forward(p, inputs, threads);
    EXPECT_EQ(one.softmax_max, several.softmax_max);
    EXPECT_EQ(one.softmax_sum, several.softmax_sum);
    EXPECT_EQ(one.attention_out, several.attention_out);
  }
}

// Three heads read the same keys, which do not fit into the panels that a thread keeps. One thread
// converts them again for each head.
TEST(BlockedForward, KeysThatAreConvertedAgainGiveTheSameOutput) {
  const Problem p = {.heads_q = 3,
                     .heads_kv = 1,
                     .seq_q = 1,
                     .seq_kv = 3300,
                     .head_dim = 656,
                     .head_dim_v = 656,
                     .scale_value = 0x1p-5};
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const Forward<double> blocked = blocked_forward(p, inputs, 1);
  const Forward<double> exact = forward(p, operands_of<double>(p, inputs), side_inputs(inputs));
  ASSERT_EQ(blocked.attention_out.size(), exact.attention_out.size());
  for (std::size_t k = 0; k < exact.attention_out.size(); ++k)
    EXPECT_NEAR(blocked.attention_out[k], exact.attention_out[k], 1e-11) << k;
}

TEST_P(BlockedForward, NeedsNoThreadThatTheMachineRefuses) {
  const Problem& p = GetParam().problem;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const Forward<double> expected = blocked_forward(p, inputs, 1);
  const test::ScarceThreads machine(1);
  EXPECT_EQ(blocked_forward(p, inputs, 3).attention_out, expected.attention_out);
  EXPECT_GT(machine.refused(), 0);
}

TEST_P(BlockedForward, HasTheSameBitsInEveryLayoutAndStriding) {
  Problem p = GetParam().problem;
  const Forward<double> expected =
      blocked_forward(p, make_inputs(p, spec::Striding::contiguous), 1);
  for (const spec::Layout layout : layouts_of(p))
    for (const auto& [striding, striding_name] : spec::spellings_of<spec::Striding>.entries) {
      if (striding == spec::Striding::far) continue;  // storage of 8 GiB
      p.input_layout = layout;
      const Forward<double> result = blocked_forward(p, make_inputs(p, striding), 1);
      SCOPED_TRACE(std::string(to_string(layout)) + ' ' + std::string(striding_name));
      EXPECT_EQ(result.softmax_max, expected.softmax_max);
      EXPECT_EQ(result.softmax_sum, expected.softmax_sum);
      EXPECT_EQ(result.attention_out, expected.attention_out);
    }
}

TEST(BlockedForward, GivesFullyMaskedRowsStatisticsAndNoOutput) {
  Problem p = ragged(3, spec::MaskShape::compressed);
  p.seq_q = 150;
  p.seq_kv = 35;
  const Forward<double> result = blocked_forward(p, make_inputs(p, spec::Striding::contiguous));
  constexpr double largest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < 115; ++i) {
    EXPECT_EQ(result.softmax_max[i], -largest);
    EXPECT_EQ(result.softmax_sum[i], largest);
    for (std::size_t d = 0; d < 13; ++d) EXPECT_EQ(result.attention_out[i * 13 + d], 0.0);
  }
  EXPECT_LT(result.softmax_sum[115], 2.0);
}

TEST(BlockedForward, HasNoRowsWithoutQueriesAndNoOutputWithoutKeys) {
  Problem p = with_lengths(ragged(0, spec::MaskShape::absent), {0, 0}, {1, 3});
  EXPECT_TRUE(blocked_forward(p, make_inputs(p, spec::Striding::contiguous)).softmax_max.empty());
  p = with_lengths(p, {2, 1}, {0, 0});
  EXPECT_EQ(blocked_forward(p, make_inputs(p, spec::Striding::contiguous)).attention_out,
            std::vector<double>(3 * 2 * 13, 0.0));
}

TEST(BlockedForward, RefusesAMissingRopeTensor) {
  Problem p = ragged(0, spec::MaskShape::absent);
  p.head_dim_rope = 1;
  Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  inputs.key_rope.reset();
  EXPECT_THROW(blocked_forward(p, inputs, 1), std::invalid_argument);
}

/// Evaluates every sum in its documented order, without vector instructions. Every instruction set
/// must give the same bits.
TEST(BlockedForward, SumsInItsDocumentedOrder) {
  const Problem p = ragged(0, spec::MaskShape::absent);
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const Forward<double> result = blocked_forward(p, inputs);
  const Operands<double> operands = operands_of<double>(p, inputs);
  constexpr std::size_t i = 20, dim = 18, dim_v = 13, keys = 150;
  std::vector<double> prob(keys);
  double lanes[8] = {}, sum = 0.0;
  for (std::size_t j = 0; j < keys; ++j) {
    double score = 0.0;
    for (std::size_t d = 0; d < dim; ++d)
      score += operands.query[i * dim + d] * operands.key[j * dim + d];
    prob[j] = reference::exp(static_cast<double>(0.3f) * score - result.softmax_max[i]);
    lanes[j % 8] += prob[j];
  }
  for (const double lane : lanes) sum += lane;
  EXPECT_EQ(result.softmax_sum[i], sum);
  for (std::size_t d = 0; d < dim_v; ++d) {
    double out = 0.0;
    for (std::size_t j = 0; j < keys; ++j) out += prob[j] * operands.value[j * dim_v + d];
    EXPECT_EQ(result.attention_out[i * dim_v + d], out / sum);
  }
}

}  // namespace
}  // namespace assay::conformance
