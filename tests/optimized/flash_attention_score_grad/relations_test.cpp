#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "../implementation_checks.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "tile/dispatch.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::Striding;
using test::Example;
using test::Op;
using test::same_bits;

/// A problem with all features that are legal in all layouts.
Op::Problem rich(Layout layout, DType dtype) {
  return {.input_layout = layout,
          .dtype = dtype,
          .batch = 3,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 140,
          .seq_kv = 140,
          .head_dim = 24,
          .head_dim_v = 17,
          .keep_prob = 0.75,
          .drop_mask = spec::DropMask::exact,
          .sparse_mode = 6,
          .prefix = {20, 139, 130},
          .atten_mask = MaskShape::compressed,
          .pse_type = 2,
          .pse_shift = spec::PseShape::slopes_bn};
}

/// Copies the elements of an attention tensor into another tensor with the same extents.
void copy(const spec::Tensor& from, Layout from_layout, spec::Tensor& to, Layout to_layout,
          const spec::Extents& e) {
  const spec::HeadIndex x(from, from_layout, e), y(to, to_layout, e);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) to.store(y(b, n, s, d), from.load(x(b, n, s, d)));
}

/// Returns inputs with the same numbers, but with the layout and the strides of `to`.
Op::Inputs moved(const Example& from, const Op::Inputs& inputs, const Example& to) {
  Op::Inputs result = test::inputs_without_forward(to);
  const Op::Problem &p = from.problem, &q = to.problem;
  const auto head_tensor = [&](const spec::Tensor& x, spec::Tensor& y, const spec::Extents& e) {
    copy(x, p.input_layout, y, q.input_layout, e);
  };
  head_tensor(inputs.query, result.query, query_extents(p));
  head_tensor(inputs.key, result.key, key_extents(p));
  head_tensor(inputs.value, result.value, value_extents(p));
  head_tensor(inputs.dy, result.dy, dy_extents(p));
  head_tensor(inputs.attention_in, result.attention_in, dy_extents(p));
  if (p.head_dim_rope > 0) {
    head_tensor(*inputs.query_rope, *result.query_rope, query_rope_extents(p));
    head_tensor(*inputs.key_rope, *result.key_rope, key_rope_extents(p));
  }
  for (auto [x, y] : {std::pair(&inputs.softmax_max, &result.softmax_max),
                      std::pair(&inputs.softmax_sum, &result.softmax_sum)})
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (std::int64_t i = 0; i < p.length_q(b); ++i) {
          const auto from_elements = test::statistics_elements(p, *x, {b, n, i, 0});
          const auto to_elements = test::statistics_elements(q, *y, {b, n, i, 0});
          for (std::size_t lane = 0; lane < 8; ++lane)
            y->store(to_elements[lane], x->load(from_elements[lane]));
        }
  return result;
}

void expect_same_numbers(const test::Gradients& x, const test::Gradients& y) {
  EXPECT_EQ(x.dq, y.dq);
  EXPECT_EQ(x.dk, y.dk);
  EXPECT_EQ(x.dv, y.dv);
  EXPECT_EQ(x.dq_rope, y.dq_rope);
  EXPECT_EQ(x.dk_rope, y.dk_rope);
}

test::Gradients gradients(const Example& example, const Op::Inputs& inputs,
                          const optimized::Options& options = {}) {
  return test::values(example.problem, test::run(example, inputs, options));
}

TEST(Relations, EveryLayoutGivesTheSameBits) {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const Example base = {.problem = rich(Layout::bnsd, dtype)};
    const Op::Inputs inputs = test::inputs_of(base);
    const test::Gradients expected = gradients(base, inputs);
    for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::tnd})
      for (const auto order :
           {spec::StatisticsOrder::heads_first, spec::StatisticsOrder::tokens_first})
        for (const bool lengths : {false, true}) {
          Example other = {.problem = rich(layout, dtype)};
          other.problem.statistics_order = order;
          if (lengths && !is_packed(layout)) continue;
          if (lengths) other.problem.lengths_q = other.problem.lengths_kv = {140, 140, 140};
          expect_same_numbers(gradients(other, moved(base, inputs, other)), expected);
        }
  }
}

TEST(Relations, StridedTensorsGiveTheSameBits) {
  for (const Layout layout : {Layout::bsnd, Layout::tnd}) {
    const Example base = {.problem = rich(layout, DType::bf16)};
    const Op::Inputs inputs = test::inputs_of(base);
    const test::Gradients expected = gradients(base, inputs);
    for (const Striding in : {Striding::contiguous, Striding::padded, Striding::transposed})
      for (const Striding out : {Striding::contiguous, Striding::padded, Striding::transposed}) {
        const Example other = {.problem = base.problem, .inputs = in, .outputs = out};
        expect_same_numbers(gradients(other, moved(base, inputs, other)), expected);
      }
  }
}

TEST(Relations, ThreadsAndInstructionsLeaveTheBits) {
  for (const bool single_head : {false, true}) {
    Op::Problem p = rich(Layout::tnd, DType::fp16);
    p.lengths_q = {70, 0, 200}, p.lengths_kv = {70, 9, 150}, p.seq_q = 200, p.seq_kv = 150;
    p.prefix = {20, 0, 110};
    if (single_head) p.heads_q = p.heads_kv = 1;
    const Example example = {.problem = p};
    const Op::Inputs inputs = test::inputs_of(example);
    const Op::Outputs expected = test::run(example, inputs, {.threads = 1});
    for (const optimized::Options& options : test::ways_to_run({2, 3, 7}))
      EXPECT_TRUE(same_bits(test::run(example, inputs, options), expected))
          << test::printed(options);
  }
}

TEST(Relations, SumsOfDqExistForTheHeadsInWorkOnly) {
  Op::Problem p = rich(Layout::tnd, DType::bf16);
  p.batch = 60, p.prefix.assign(60, 9);
  p.lengths_q = p.lengths_kv = std::vector<std::int64_t>(60, 40);
  p.lengths_q[7] = p.seq_q = 50;
  p.lengths_kv[7] = p.seq_kv = 50;
  const Example example = {.problem = p};
  const Op::Inputs inputs = test::inputs_of(example);
  const Op::Outputs expected = test::run(example, inputs, {.threads = 1});
  for (const std::int64_t threads : {1, 3}) {
    Op::Outputs outputs = test::outputs_of(example);
    optimized::Workspace workspace;
    const optimized::Tiling tiling = optimized::plan(p, device::a2());
    optimized::compute_gradient(
        p, inputs, outputs,
        {.tiling = tiling,
         .kernels = optimized::tile::kernels(optimized::Instructions::fastest),
         .workspace = workspace,
         .threads = threads});
    EXPECT_TRUE(same_bits(outputs, expected));
    EXPECT_LE(workspace.dq.capacity(), threads * p.group() * 50 * optimized::padded(p.head_dim));
    EXPECT_LE(workspace.row_terms.capacity(), (60 * 40 + 10) * p.heads_q + 16);
  }
}

/// Returns the elements of `all` that belong to sequence b.
std::vector<double> part(const std::vector<double>& all, const spec::Extents& e, std::int64_t b) {
  const auto at = [&](std::int64_t sequence) {
    return all.begin() + e.start(sequence) * e.heads * e.dim;
  };
  return {at(b), at(b + 1)};
}

TEST(Relations, APackOfSequencesIsItsSequencesAlone) {
  Op::Problem p = rich(Layout::tnd, DType::bf16);
  p.pse_shift = spec::PseShape::slopes_n, p.sparse_mode = 3, p.prefix = {};
  p.drop_mask = spec::DropMask::absent, p.keep_prob = 1, p.head_dim_rope = 8;
  p.lengths_q = {40, 0, 5, 290}, p.lengths_kv = {60, 7, 5, 310};
  p.batch = 4, p.seq_q = 290, p.seq_kv = 310;
  const Example pack = {.problem = p};
  const Op::Inputs inputs = test::inputs_of(pack);
  const test::Gradients all = gradients(pack, inputs);
  for (const std::int64_t b : {0, 2, 3}) {
    Example alone = {.problem = p};
    alone.problem.batch = 1;
    alone.problem.seq_q = p.length_q(b), alone.problem.seq_kv = p.length_kv(b);
    alone.problem.lengths_q = {p.length_q(b)}, alone.problem.lengths_kv = {p.length_kv(b)};
    Op::Inputs own = test::inputs_without_forward(alone);
    const auto tokens = [&](const spec::Tensor& from, spec::Tensor& to, const spec::Extents& e) {
      const std::int64_t row = from.strides[0] * spec::size_of(from.dtype);
      std::copy_n(from.bytes.begin() + e.start(b) * row, e.length(b) * row, to.bytes.begin());
    };
    tokens(inputs.query, own.query, query_extents(p));
    tokens(*inputs.query_rope, *own.query_rope, query_extents(p));
    tokens(inputs.dy, own.dy, query_extents(p));
    tokens(inputs.attention_in, own.attention_in, query_extents(p));
    tokens(inputs.softmax_max, own.softmax_max, query_extents(p));
    tokens(inputs.softmax_sum, own.softmax_sum, query_extents(p));
    tokens(inputs.key, own.key, key_extents(p));
    tokens(*inputs.key_rope, *own.key_rope, key_extents(p));
    tokens(inputs.value, own.value, key_extents(p));
    const test::Gradients g = gradients(alone, own);
    EXPECT_EQ(g.dq, part(all.dq, query_extents(p), b));
    EXPECT_EQ(g.dk, part(all.dk, key_extents(p), b));
    EXPECT_EQ(g.dv, part(all.dv, value_extents(p), b));
    EXPECT_EQ(g.dq_rope, part(all.dq_rope, query_rope_extents(p), b));
    EXPECT_EQ(g.dk_rope, part(all.dk_rope, key_rope_extents(p), b));
  }
}

TEST(Relations, RopeIsAConcatenationOfChannels) {
  Example separate = {.problem = rich(Layout::tnd, DType::bf16)};
  separate.problem.head_dim = 16, separate.problem.head_dim_v = 16;
  separate.problem.head_dim_rope = 8;
  Example joined = separate;
  joined.problem.head_dim = 24, joined.problem.head_dim_rope = 0;
  const Op::Inputs inputs = test::inputs_of(separate);
  Op::Inputs together = inputs;
  const auto join = [](const spec::Tensor& x, const spec::Tensor& y) {
    spec::Tensor both = spec::contiguous_tensor(x.dtype, {x.shape[0], x.shape[1], 24});
    for (std::int64_t row = 0; row < x.shape[0] * x.shape[1]; ++row) {
      std::memcpy(both.bytes.data() + row * 48, x.bytes.data() + row * 32, 32);
      std::memcpy(both.bytes.data() + row * 48 + 32, y.bytes.data() + row * 16, 16);
    }
    return both;
  };
  together.query = join(inputs.query, *inputs.query_rope);
  together.key = join(inputs.key, *inputs.key_rope);
  const Op::Outputs apart = test::run(separate, inputs), one = test::run(joined, together);
  const auto equal = [](const spec::Tensor& x, const spec::Tensor& y) {
    return std::ranges::equal(x.bytes.begin(), x.bytes.begin() + spec::element_count(x.shape) * 2,
                              y.bytes.begin(), y.bytes.begin() + spec::element_count(x.shape) * 2);
  };
  EXPECT_TRUE(equal(join(apart.dq, *apart.dq_rope), one.dq));
  EXPECT_TRUE(equal(join(apart.dk, *apart.dk_rope), one.dk));
  EXPECT_TRUE(equal(apart.dv, one.dv));
}

TEST(Relations, TypeZeroWithTheScaledBiasIsTypeOne) {
  Op::Problem p = rich(Layout::bnsd, DType::fp32);
  p.pse_type = 1, p.pse_shift = spec::PseShape::bnss, p.scale_value = 0.25;
  const Example added_before = {.problem = p};
  const Op::Inputs inputs = test::inputs_of(added_before);
  p.pse_type = 0;
  const Example added_after = {.problem = p};
  Op::Inputs scaled = inputs;
  for (const std::int64_t element : spec::viewed_elements(*scaled.pse_shift))
    scaled.pse_shift->store(element, 0.25 * scaled.pse_shift->load(element));
  // The scale is a power of two, so multiplying by it before or after a rounding gives the same
  // result.
  EXPECT_TRUE(same_bits(test::run(added_before, inputs), test::run(added_after, scaled)));
}

}  // namespace
