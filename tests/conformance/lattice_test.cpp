#include "assay/conformance/lattice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "lattice_cases.hpp"

namespace assay::conformance {
namespace {

using lattice_test::configuration;
using lattice_test::configurations;
using lattice_test::square;
using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::MaskShape;

double value_of(Dyadic x) { return std::ldexp(static_cast<double>(x.numerator), x.exponent); }

LatticeCase plain_lattice(const Case<Op>& c) { return make_lattice(c, {.stage = c.problem.dtype}); }

std::vector<double> dense(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& e) {
  const spec::HeadView view(tensor, layout, e);
  std::vector<double> values(static_cast<std::size_t>(e.batch * e.heads * e.seq * e.dim));
  std::size_t next = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) values[next++] = view(b, n, s, d);
  return values;
}

TEST(Lattice, StatisticsAndOutputAreThoseOfAForward) {
  for (std::int64_t k = 0; k < configurations; ++k) {
    const Case<Op> c = configuration(k, 4, Track::a1);
    const Op::Problem& p = c.problem;
    if (p.seq_kv == 1) continue;  // attention_in is shifted there on purpose
    const Op::Inputs inputs = plain_lattice(c).inputs;
    const reference::Operands<double> operands{
        .query = dense(inputs.query, p.input_layout, query_extents(p)),
        .key = dense(inputs.key, p.input_layout, key_extents(p)),
        .value = dense(inputs.value, p.input_layout, value_extents(p))};
    const auto forward =
        reference::forward<double>(p, operands, inputs.atten_mask ? &*inputs.atten_mask : nullptr);
    const auto output = dense(inputs.attention_in, p.input_layout, dy_extents(p));
    // Muted rows attend to a number of keys that is no power of two: their output is rounded.
    const double half_step = std::ldexp(1.0, -spec::format_of(p.dtype).significand_bits);
    for (std::size_t e = 0; e < output.size(); ++e)
      ASSERT_NEAR(output[e], forward.attention_out[e], half_step * std::abs(output[e]) + 1e-30)
          << command_line(c);
    const auto elements = spec::viewed_elements(inputs.softmax_max);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const std::size_t row = e / spec::statistics_replicas;
      ASSERT_EQ(inputs.softmax_max.load(elements[e]), forward.softmax_max[row]) << command_line(c);
      ASSERT_EQ(inputs.softmax_sum.load(elements[e]), static_cast<float>(forward.softmax_sum[row]));
    }
  }
}

TEST(Lattice, ExactGradientsAreThoseOfTheReference) {
  for (std::int64_t k = 0; k < configurations; k += 5) {
    const Case<Op> c = configuration(k, 5, Track::a1);
    const Op::Problem& p = c.problem;
    const LatticeCase lattice = plain_lattice(c);
    const auto gradient = reference::FlashAttentionScoreGrad<double>::from(p, lattice.inputs);
    // Excluded keys of the lattice keep exp(-128) in double, which fp32 does not have.
    const double residue = 1e-40;
    std::size_t next = 0;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (const std::int64_t i : lattice.query_rows)
          for (const double value : gradient.dq_row(b, n, i))
            ASSERT_NEAR(value_of(lattice.dq[next++]), value, residue) << command_line(c);
    std::size_t dk = 0, dv = 0;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
        for (const std::int64_t j : lattice.key_rows) {
          const auto row = gradient.dkv_row(b, kv, j);
          for (const double value : row.dk) ASSERT_NEAR(value_of(lattice.dk[dk++]), value, residue);
          for (const double value : row.dv) ASSERT_NEAR(value_of(lattice.dv[dv++]), value, residue);
        }
    EXPECT_EQ(next, lattice.dq.size());
    EXPECT_EQ(dk + dv, lattice.dk.size() + lattice.dv.size());
  }
}

TEST(Lattice, IsAPureFunctionOfTheCase) {
  const Case<Op> c = configuration(4, 6, Track::a2);
  const LatticeCase one = plain_lattice(c), again = plain_lattice(c);
  EXPECT_EQ(one.inputs.query.bytes, again.inputs.query.bytes);
  EXPECT_EQ(one.inputs.dy.bytes, again.inputs.dy.bytes);
  EXPECT_NE(one.inputs.key.bytes, plain_lattice(configuration(4, 7, Track::a2)).inputs.key.bytes);
}

TEST(Lattice, LeavesTheGuardPatternOutsideTheViews) {
  Case<Op> c = square(9, 8, Track::a1);
  c.inputs = spec::Striding::padded;
  const Op::Inputs inputs = plain_lattice(c).inputs;
  std::int64_t guards = 0;
  const auto elements = static_cast<std::int64_t>(inputs.key.bytes.size()) / 2;
  for (std::int64_t element = 0; element < elements; ++element)
    guards += std::isnan(inputs.key.load(element)) ? 1 : 0;
  EXPECT_EQ(guards, elements - 9 * 8);
  EXPECT_GT(guards, 0);
}

TEST(Lattice, DeadRowsHaveAGradientAndTheirStatistics) {
  Case<Op> c = square(12, 16, Track::a1);
  c.problem.seq_kv = 8, c.problem.sparse_mode = 3, c.problem.atten_mask = MaskShape::compressed;
  const Op::Inputs inputs = plain_lattice(c).inputs;
  const double largest = std::numeric_limits<float>::max();
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(inputs.softmax_max.load(8 * i), -largest);
    EXPECT_EQ(inputs.softmax_sum.load(8 * i + 7), largest);
    double dy = 0;
    for (std::int64_t d = 0; d < 16; ++d) {
      EXPECT_EQ(inputs.attention_in.load(16 * i + d), 0);
      dy += std::abs(inputs.dy.load(16 * i + d));
    }
    EXPECT_GT(dy, 0);
  }
}

TEST(Lattice, NoRowIsMutedWithEightChannelsOrMore) {
  for (const std::int64_t head_dim : {8, 16, 32, 64, 128, 192})
    for (const Track track : {Track::a1, Track::a2})
      for (const std::int64_t mode : {0, 2}) {
        Case<Op> c = square(100, head_dim, track);
        c.problem.sparse_mode = mode;
        if (mode == 2) c.problem.atten_mask = MaskShape::compressed;
        EXPECT_EQ(plain_lattice(c).muted_rows, 0) << command_line(c);
      }
}

TEST(Lattice, FewRowsAreMutedWithFewChannels) {
  std::int64_t muted = 0, rows = 0;
  for (std::int64_t head_dim = 1; head_dim < 8; ++head_dim)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Case<Op> c = square(100, head_dim, Track::a1);
      c.seed = seed;
      c.problem.sparse_mode = 2, c.problem.atten_mask = MaskShape::compressed;
      muted += plain_lattice(c).muted_rows;
      rows += 100;
    }
  EXPECT_LT(muted * 20, rows) << muted << " of " << rows;
}

TEST(Lattice, EveryKeyIsAttendedToWhereCodesTellAllKeysApart) {
  for (const std::int64_t mode : {0, 2}) {
    Case<Op> c = square(96, 64, Track::a1);
    c.problem.sparse_mode = mode;
    if (mode == 2) c.problem.atten_mask = MaskShape::compressed;
    const LatticeCase lattice = plain_lattice(c);
    for (std::size_t j = 0; j < 96; ++j) {
      std::int64_t size = 0;
      for (std::size_t d = 0; d < 64; ++d) size += std::abs(lattice.dv[64 * j + d].numerator);
      EXPECT_GT(size, 0) << "key " << j << " in mode " << mode;
    }
  }
}

TEST(Lattice, JudgesSampledRowsOfALongSequence) {
  Case<Op> c = square(4096, 64, Track::a1);
  c.rows = 16;
  const LatticeCase lattice = plain_lattice(c);
  EXPECT_EQ(lattice.query_rows.size(), 16u);
  EXPECT_EQ(lattice.dk.size(), 16u * 64u);
  EXPECT_EQ(lattice.muted_rows, 0);
}

TEST(Lattice, OneKeyStillHasADscoreForKernelsThatTakeTheOutputAsGiven) {
  Case<Op> c = square(24, 16, Track::a1);
  c.problem.seq_kv = 1, c.seed = 4;
  const auto nonzero = [](const std::vector<Dyadic>& values) {
    return std::count_if(values.begin(), values.end(), [](Dyadic x) { return x.numerator != 0; });
  };
  EXPECT_GT(nonzero(make_lattice(c, {.delta = spec::Origin::given}).dq), 0);
  EXPECT_EQ(nonzero(make_lattice(c, {.delta = spec::Origin::own}).dq), 0);
}

TEST(Lattice, RefusesWhatItCannotMakeExact) {
  const auto refused = [](auto change, spec::NumericsProfile numerics = {}) {
    Case<Op> c = square(16, 16, Track::a1);
    c.problem.scale_value = 0.125;
    change(c, numerics);
    EXPECT_THROW(make_lattice(c, numerics), NoLattice);
  };
  using Profile = spec::NumericsProfile;
  refused([](Case<Op>& c, Profile&) { c.problem.scale_value = 0.25; });
  refused([](Case<Op>& c, Profile&) { c.problem.scale_value = 0.3; });
  refused([](Case<Op>& c, Profile&) { c.problem.keep_prob = 0.5; });
  refused([](Case<Op>& c, Profile&) { c.track = Track::bound; });
  refused([](Case<Op>&, Profile& n) { n.lse_form = true; });
  refused([](Case<Op>& c, Profile& n) { c.problem.heads_q = 2, n.partials = DType::bf16; });
  refused([](Case<Op>& c, Profile& n) {
    c.track = Track::a2, n.stage = DType::bf16, n.round_stage = spec::Rounding::stochastic;
  });
}

TEST(LatticeScale, IsAlwaysAcceptedAndNeverCustomary) {
  for (std::int64_t head_dim = 1; head_dim <= 256; ++head_dim)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Case<Op> c = square(2, head_dim, Track::a1);
      c.problem.scale_value = lattice_scale(c.problem, seed);
      EXPECT_EQ(static_cast<float>(c.problem.scale_value), c.problem.scale_value);
      EXPECT_NE(c.problem.scale_value * c.problem.scale_value * static_cast<double>(head_dim), 1.0);
      EXPECT_NO_THROW(plain_lattice(c)) << c.problem.scale_value;
    }
}

}  // namespace
}  // namespace assay::conformance
