#include <gtest/gtest.h>

#include <vector>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score.hpp"

/// Tests identities of softmax attention that every kernel must satisfy. Also tests that the
/// results of the forward are the inputs that the gradient expects.
namespace assay::reference {
namespace {

const Quad tiny(1e-31);

class ForwardIdentities : public testing::TestWithParam<NamedProblem> {};
INSTANTIATE_TEST_SUITE_P(Small, ForwardIdentities, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

spec::FlashAttentionScore::Inputs forward_inputs(const Inputs& of_gradient) {
  return {.query = of_gradient.query,
          .key = of_gradient.key,
          .value = of_gradient.value,
          .atten_mask = of_gradient.atten_mask,
          .pse_shift = of_gradient.pse_shift,
          .drop_mask = of_gradient.drop_mask,
          .query_rope = of_gradient.query_rope,
          .key_rope = of_gradient.key_rope};
}

/// Calls visit(b, n, i) for every query row.
template <class Visit>
void each_row(const Problem& p, const Visit& visit) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) visit(b, n, i);
}

/// Compares all rows of two attentions. The maxima in `b` must be larger by `shift` than those in
/// `a`. Sums and outputs may differ only by rounding errors.
void expect_equal_rows(const Problem& p, const FlashAttentionScore<Quad>& a,
                       const FlashAttentionScore<Quad>& b, const Quad& shift = 0) {
  each_row(p, [&](std::int64_t batch, std::int64_t n, std::int64_t i) {
    const AttentionRow<Quad> x = a.row(batch, n, i), y = b.row(batch, n, i);
    if (abs(x.softmax_max) < 1000) {
      EXPECT_LT(abs(Quad(y.softmax_max - x.softmax_max - shift)), tiny);
    }
    EXPECT_LE(abs(Quad(x.softmax_sum - y.softmax_sum)), Quad(tiny * y.softmax_sum));
    for (std::size_t c = 0; c < x.attention_out.size(); ++c)
      EXPECT_LT(abs(Quad(x.attention_out[c] - y.attention_out[c])), tiny);
  });
}

TEST_P(ForwardIdentities, LayoutsAndStridesDoNotChangeABit) {
  Problem p = GetParam().problem;
  p.dtype = spec::DType::bf16;
  const auto rows_of = [&](const spec::FlashAttentionScore::Inputs& inputs) {
    const auto attention = FlashAttentionScore<double>::from(p, inputs);
    std::vector<double> rows;
    each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
      const AttentionRow<double> row = attention.row(b, n, i);
      rows.insert(rows.end(), {row.softmax_max, row.softmax_sum});
      rows.insert(rows.end(), row.attention_out.begin(), row.attention_out.end());
    });
    return rows;
  };
  const auto expected = rows_of(forward_inputs(make_inputs(p, spec::Striding::contiguous)));
  for (const spec::Layout layout : layouts_of(p))
    for (const spec::Striding striding : {spec::Striding::contiguous, spec::Striding::padded}) {
      p.input_layout = layout;
      EXPECT_EQ(rows_of(forward_inputs(make_inputs(p, striding))), expected) << to_string(layout);
    }
}

/// The gradient computes P from the statistics of the forward. So P must sum to 1, and P after
/// dropout times value must give the output of the forward.
TEST_P(ForwardIdentities, TheGradientTakesTheseStatisticsAndThisOutput) {
  const Problem& p = GetParam().problem;
  const OwnedSides sides = make_sides(p);
  Operands<Quad> operands = consistent_operands<Quad>(p, sides.refer());
  const FlashAttentionScore<Quad> attention(p, operands, sides.refer());
  operands.softmax_max.clear();
  operands.softmax_sum.clear();
  operands.attention_in.clear();
  each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const AttentionRow<Quad> row = attention.row(b, n, i);
    operands.softmax_max.push_back(row.softmax_max);
    operands.softmax_sum.push_back(row.softmax_sum);
    operands.attention_in.insert(operands.attention_in.end(), row.attention_out.begin(),
                                 row.attention_out.end());
  });
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, sides.refer());
  std::int64_t live = 0;
  each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const AttentionRow<Quad> row = attention.row(b, n, i);
    Quad total(0);
    std::vector<Quad> out(row.attention_out.size(), Quad(0));
    for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
      const Pair<Quad> pair = gradient.pair(b, n, i, j);
      total += pair.prob;
      const auto value = attention.scores().value_row(b, n / p.group(), j);
      for (std::size_t c = 0; c < out.size(); ++c) out[c] += pair.dropped * value[c];
    }
    EXPECT_TRUE(total == 0 || abs(Quad(total - 1)) < tiny);
    live += total == 0 ? 0 : 1;
    for (std::size_t c = 0; c < out.size(); ++c)
      EXPECT_LT(abs(Quad(out[c] - row.attention_out[c])), tiny);
  });
  EXPECT_GT(live, 0);
}

TEST_P(ForwardIdentities, RopeIsAConcatenation) {
  Problem p = GetParam().problem;
  p.head_dim_rope = 2;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  const auto joined = [&](const std::vector<Quad>& first, const std::vector<Quad>& second) {
    std::vector<Quad> rows;
    for (std::size_t at = 0, rope = 0; at < first.size(); at += 3, rope += 2) {
      rows.insert(rows.end(), first.begin() + static_cast<std::ptrdiff_t>(at),
                  first.begin() + static_cast<std::ptrdiff_t>(at + 3));
      rows.insert(rows.end(), second.begin() + static_cast<std::ptrdiff_t>(rope),
                  second.begin() + static_cast<std::ptrdiff_t>(rope + 2));
    }
    return rows;
  };
  ASSERT_EQ(p.head_dim, 3);
  Problem wide = p;
  wide.head_dim = 5;
  wide.head_dim_rope = 0;
  expect_equal_rows(p, {p, operands, sides.refer()},
                    {wide,
                     Operands<Quad>{.query = joined(operands.query, operands.query_rope),
                                    .key = joined(operands.key, operands.key_rope),
                                    .value = operands.value},
                     sides.refer()});
}

TEST_P(ForwardIdentities, RepeatedHeadsEqualGroupedHeads) {
  const Problem& p = GetParam().problem;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  const auto repeated = [&](const spec::Extents& e, const std::vector<Quad>& operand) {
    std::vector<Quad> rows;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n) {
        const auto first = operand.begin() + e.row(b, n / p.group(), 0) * e.dim;
        rows.insert(rows.end(), first, first + e.length(b) * e.dim);
      }
    return rows;
  };
  Problem ungrouped = p;
  ungrouped.heads_kv = p.heads_q;
  expect_equal_rows(p, {p, operands, sides.refer()},
                    {ungrouped,
                     Operands<Quad>{.query = operands.query,
                                    .key = repeated(key_extents(p), operands.key),
                                    .value = repeated(value_extents(p), operands.value),
                                    .query_rope = operands.query_rope,
                                    .key_rope = repeated(key_rope_extents(p), operands.key_rope)},
                     sides.refer()});
}

TEST_P(ForwardIdentities, TheOutputIsLinearInValue) {
  const Problem& p = GetParam().problem;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  auto doubled = operands, sum = operands;
  for (Quad& v : doubled.value) v *= 4;
  for (std::size_t k = 0; k < sum.value.size(); ++k)
    sum.value[k] += Quad(element(11, static_cast<std::int64_t>(k)));
  auto other = operands;
  for (std::size_t k = 0; k < other.value.size(); ++k)
    other.value[k] = Quad(element(11, static_cast<std::int64_t>(k)));
  const FlashAttentionScore<Quad> once(p, operands, sides.refer()), four(p, doubled, sides.refer()),
      both(p, sum, sides.refer()), added(p, other, sides.refer());
  each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const auto x = once.row(b, n, i), y = added.row(b, n, i), z = both.row(b, n, i),
               w = four.row(b, n, i);
    for (std::size_t c = 0; c < x.attention_out.size(); ++c) {
      EXPECT_EQ(w.attention_out[c], 4 * x.attention_out[c]);
      EXPECT_LT(abs(Quad(x.attention_out[c] + y.attention_out[c] - z.attention_out[c])), tiny);
    }
  });
}

TEST_P(ForwardIdentities, EveryNumberTypeGivesTheSameRows) {
  const Problem& p = GetParam().problem;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const auto of_forward = forward_inputs(inputs);
  const auto exact = FlashAttentionScore<SeventyFive>::from(p, of_forward);
  const auto pairs = FlashAttentionScore<DoubleDouble>::from(p, of_forward);
  const auto doubles = FlashAttentionScore<double>::from(p, of_forward);
  each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const auto x = exact.row(b, n, i);
    const auto y = pairs.row(b, n, i);
    const auto z = doubles.row(b, n, i);
    const auto near = [](const SeventyFive& value, double other) {
      EXPECT_LE(abs(SeventyFive(value - SeventyFive(other))),
                SeventyFive(1e-13) * (1 + abs(value)));
    };
    near(x.softmax_max, y.softmax_max.value);
    near(x.softmax_sum, y.softmax_sum.value);
    near(x.softmax_sum, z.softmax_sum);
    for (std::size_t c = 0; c < x.attention_out.size(); ++c) {
      near(x.attention_out[c], y.attention_out[c].value);
      near(x.attention_out[c], z.attention_out[c]);
    }
  });
}

Problem biased(std::int64_t pse_type) {
  Problem p = small_problems().front().problem;
  p.scale_value = 0.5;
  p.pse_type = pse_type;
  p.pse_shift = spec::PseShape::bnss;
  return p;
}

void change_each(spec::Tensor& tensor, const auto& change) {
  for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k)
    tensor.store(k, change(tensor.load(k)));
}

TEST(ForwardOfABias, AConstantOfTypeZeroShiftsTheMaximum) {
  const Problem p = biased(0);
  const OwnedSides sides = make_sides(p);
  OwnedSides shifted = sides;
  change_each(*shifted.pse_shift, [](double x) { return x + 0.5; });
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  expect_equal_rows(p, {p, operands, sides.refer()}, {p, operands, shifted.refer()}, Quad(0.5));
}

TEST(ForwardOfABias, TypeZeroWithTheScaledBiasIsTypeOne) {
  const Problem p = biased(1);
  const OwnedSides sides = make_sides(p);
  OwnedSides scaled = sides;
  change_each(*scaled.pse_shift, [](double x) { return 0.5 * x; });
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  expect_equal_rows(p, {p, operands, sides.refer()}, {biased(0), operands, scaled.refer()});
}

/// A problem with one head of size 3 and 8 keys, without mask and bias.
Problem eight_keys(std::int64_t keys = 8) {
  Problem p = small_problems().front().problem;
  p.heads_q = p.heads_kv = 1;
  p.seq_kv = keys;
  return p;
}

/// Returns the operands with only the keys from `first` to `last` - 1.
Operands<Quad> keys_of(const Operands<Quad>& all, std::int64_t first, std::int64_t last) {
  Operands<Quad> part = all;
  part.key.assign(all.key.begin() + first * 3, all.key.begin() + last * 3);
  part.value.assign(all.value.begin() + first * 2, all.value.begin() + last * 2);
  return part;
}

TEST(ForwardOfKeys, ThePermutationOfKeysDoesNotMatter) {
  const Problem p = eight_keys();
  const auto operands = consistent_operands<Quad>(p, {});
  auto turned = keys_of(operands, 3, 8);
  const auto rest = keys_of(operands, 0, 3);
  turned.key.insert(turned.key.end(), rest.key.begin(), rest.key.end());
  turned.value.insert(turned.value.end(), rest.value.begin(), rest.value.end());
  expect_equal_rows(p, {p, operands, {}}, {p, turned, {}});
}

TEST(ForwardOfKeys, TwoPartsOfTheKeysJoinByTheirStatistics) {
  const Problem p = eight_keys();
  const auto operands = consistent_operands<Quad>(p, {});
  const FlashAttentionScore<Quad> whole(p, operands, {}),
      first(eight_keys(3), keys_of(operands, 0, 3), {}),
      second(eight_keys(5), keys_of(operands, 3, 8), {});
  each_row(p, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const auto x = first.row(b, n, i), y = second.row(b, n, i), z = whole.row(b, n, i);
    EXPECT_EQ(z.softmax_max, x.softmax_max > y.softmax_max ? x.softmax_max : y.softmax_max);
    const Quad of_x = x.softmax_sum * exp(Quad(x.softmax_max - z.softmax_max)),
               of_y = y.softmax_sum * exp(Quad(y.softmax_max - z.softmax_max));
    EXPECT_LT(abs(Quad(of_x + of_y - z.softmax_sum)), tiny);
    for (std::size_t c = 0; c < z.attention_out.size(); ++c)
      EXPECT_LT(abs(Quad((of_x * x.attention_out[c] + of_y * y.attention_out[c]) / z.softmax_sum -
                         z.attention_out[c])),
                tiny);
  });
}

TEST(ForwardOfDropout, ComplementaryMasksJoinToTheOutputWithoutDropout) {
  Problem plain = small_problems().front().problem;
  Problem kept = plain, dropped = plain;
  kept.keep_prob = 0.25;
  dropped.keep_prob = 0.75;
  kept.drop_mask = dropped.drop_mask = spec::DropMask::exact;
  const OwnedSides sides = make_sides(kept);
  OwnedSides complement = sides;
  change_each(*complement.drop_mask, [](double byte) { return 255 - byte; });
  const auto operands = consistent_operands<Quad>(plain, {});
  const FlashAttentionScore<Quad> whole(plain, operands, {}), one(kept, operands, sides.refer()),
      other(dropped, operands, complement.refer());
  each_row(plain, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const auto x = one.row(b, n, i), y = other.row(b, n, i), z = whole.row(b, n, i);
    EXPECT_EQ(x.softmax_sum, z.softmax_sum);
    for (std::size_t c = 0; c < z.attention_out.size(); ++c)
      EXPECT_LT(
          abs(Quad(0.25 * x.attention_out[c] + 0.75 * y.attention_out[c] - z.attention_out[c])),
          tiny);
  });
}

/// The fixed mask patterns of the sparse modes must give the same result as a user's mask with the
/// same excluded pairs.
TEST(ForwardOfMasks, ACompressedMaskEqualsTheMaskWrittenOut) {
  for (const NamedProblem& named : small_problems()) {
    Problem p = named.problem;
    if (p.atten_mask != spec::MaskShape::compressed) continue;
    SCOPED_TRACE(named.name);
    const OwnedSides sides = make_sides(p);
    const auto operands = consistent_operands<Quad>(p, sides.refer());
    const FlashAttentionScore<Quad> compressed(p, operands, sides.refer());
    Problem written = p;
    written.sparse_mode = 1;
    written.atten_mask = spec::MaskShape::b_one_ss;
    OwnedSides user = sides;
    user.atten_mask = spec::contiguous_tensor(spec::DType::boolean, spec::mask_shape(written));
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t i = 0; i < p.seq_q; ++i)
        for (std::int64_t j = 0; j < p.seq_kv; ++j)
          user.atten_mask->store(at++, compressed.scores().mask().keeps(b, 0, i, j) ? 0 : 1);
    expect_equal_rows(p, compressed, {written, operands, user.refer()});
  }
}

}  // namespace
}  // namespace assay::reference
