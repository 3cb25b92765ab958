#include "assay/conformance/attention/exact_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "assay/conformance/attention/forward.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/exact/exact_store.hpp"
#include "cases.hpp"

namespace assay::conformance {
namespace {

using exact_case_test::configuration;
using exact_case_test::configurations;
using exact_case_test::family;
using exact_case_test::square;
using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::MaskShape;

double value_of(Dyadic x) { return std::ldexp(static_cast<double>(x.numerator), x.exponent); }

AttentionExactCase plain_exact_case(const Case<Op>& c) {
  return Suite<Op>::exact(c, {.stage = c.problem.dtype});
}

std::vector<Case<Op>> cases_of(std::uint64_t seed, Track track) {
  std::vector<Case<Op>> cases = family(seed, track);
  for (std::int64_t k = 0; k < configurations; ++k) cases.push_back(configuration(k, seed, track));
  return cases;
}

/// Upper limit for the probability P of a key whose score is at least 128 below the maximum of the
/// row.
constexpr double residue = 1e-40;

TEST(ExactCase, StatisticsAndOutputAreThoseOfAForward) {
  for (const Case<Op>& c : cases_of(4, Track::exact)) {
    const Op::Problem& p = c.problem;
    if (p.seq_kv == 1 || c.seed / 2 % 2 == 0) continue;  // attention_in may be shifted on purpose
    const Op::Inputs inputs = plain_exact_case(c).inputs;
    const auto given = reference::operands_of<double>(p, inputs);
    const auto forward = blocked_forward(p, inputs, 1);
    // In these rows the number of unmasked keys is not a power of two, so the mean of the values is
    // rounded in the output.
    const double half_step = std::ldexp(1.0, -spec::format_of(p.dtype).significand_bits);
    for (std::size_t e = 0; e < given.attention_in.size(); ++e)
      ASSERT_NEAR(given.attention_in[e], forward.attention_out[e],
                  half_step * std::abs(given.attention_in[e]) + 1e-30)
          << command_line(c);
    for (std::size_t row = 0; row < given.softmax_max.size(); ++row) {
      const auto [b, n, i] = query_extents(p).position(static_cast<std::int64_t>(row));
      // For a sequence without keys some forward operators write the statistics (0, 0), others do
      // not. The seed of the case decides which convention the case uses.
      if (p.length_kv(b) == 0 && given.softmax_max[row] == 0 && given.softmax_sum[row] == 0)
        continue;
      ASSERT_EQ(given.softmax_max[row], forward.softmax_max[row]) << command_line(c);
      ASSERT_EQ(given.softmax_sum[row], static_cast<float>(forward.softmax_sum[row]))
          << command_line(c) << " row " << row;
    }
  }
}

void expect_near(const std::vector<Dyadic>& exact, std::size_t& next,
                 const std::vector<double>& values, const Case<Op>& c) {
  for (const double value : values)
    ASSERT_NEAR(value_of(exact.at(next++)), value, residue * std::max(1.0, std::abs(value)))
        << command_line(c);
}

/// Different rows have different softmax maxima, so that a kernel that uses the maximum of another
/// row fails.
TEST(ExactCase, MaximaOfRowsDiffer) {
  int looked_at = 0;
  for (const Track track : {Track::exact, Track::exact_staged})
    for (const Case<Op>& c : cases_of(4, track)) {
      const auto given = reference::operands_of<double>(c.problem, plain_exact_case(c).inputs);
      std::set<double> maxima;
      std::int64_t rows = 0;
      for (std::size_t row = 0; row < given.softmax_max.size(); ++row) {
        if (given.softmax_sum[row] > 8) continue;  // a fully masked row
        maxima.insert(given.softmax_max[row]), ++rows;
      }
      // Only scales that are powers of two are tested. With other scales the fused form of the
      // exponent may round the maxima, so the maxima of such a case may all be equal.
      int exponent = 0;
      const bool is_power = std::abs(std::frexp(c.problem.scale_value, &exponent)) == 0.5;
      if (rows < 8 || !is_power) continue;
      ++looked_at;
      EXPECT_GT(maxima.size(), 1u) << command_line(c);
    }
  EXPECT_GT(looked_at, 100);
}

TEST(ExactCase, ExactGradientsAreThoseOfTheReference) {
  const std::vector<Case<Op>> cases = cases_of(5, Track::exact);
  for (std::size_t k = 0; k < cases.size(); k += 3) {
    const Case<Op>& c = cases[k];
    const Op::Problem& p = c.problem;
    const AttentionExactCase exact_case = plain_exact_case(c);
    const auto gradient = reference::FlashAttentionScoreGrad<double>::from(p, exact_case.inputs);
    std::size_t dq = 0, dq_rope = 0, dk = 0, dk_rope = 0, dv = 0;
    for (const std::int64_t flat : exact_case.query_rows) {
      const auto [b, n, i] = query_extents(p).position(flat);
      const auto row = gradient.dq_row(b, n, i);
      expect_near(exact_case.dq, dq, row.dq, c);
      expect_near(exact_case.dq_rope, dq_rope, row.dq_rope, c);
    }
    for (const std::int64_t flat : exact_case.key_rows) {
      const auto [b, n, j] = key_extents(p).position(flat);
      const auto row = gradient.dkv_row(b, n, j);
      expect_near(exact_case.dk, dk, row.dk, c);
      expect_near(exact_case.dk_rope, dk_rope, row.dk_rope, c);
      expect_near(exact_case.dv, dv, row.dv, c);
    }
    EXPECT_EQ(dq + dq_rope, exact_case.dq.size() + exact_case.dq_rope.size());
    EXPECT_EQ(dk + dk_rope + dv,
              exact_case.dk.size() + exact_case.dk_rope.size() + exact_case.dv.size());
  }
}

TEST(ExactCase, IsAPureFunctionOfTheCase) {
  const Case<Op> c = configuration(4, 6, Track::exact_staged);
  const AttentionExactCase one = plain_exact_case(c), again = plain_exact_case(c);
  EXPECT_EQ(one.inputs.query.bytes, again.inputs.query.bytes);
  EXPECT_EQ(one.inputs.dy.bytes, again.inputs.dy.bytes);
  EXPECT_NE(one.inputs.key.bytes,
            plain_exact_case(configuration(4, 7, Track::exact_staged)).inputs.key.bytes);
}

TEST(ExactCase, LeavesTheGuardPatternOutsideTheViews) {
  Case<Op> c = square(9, 8, Track::exact);
  c.inputs = spec::Striding::padded;
  const Op::Inputs inputs = plain_exact_case(c).inputs;
  std::int64_t guards = 0;
  const auto elements = static_cast<std::int64_t>(inputs.key.bytes.size()) / 2;
  for (std::int64_t element = 0; element < elements; ++element)
    guards += std::isnan(inputs.key.load(element)) ? 1 : 0;
  EXPECT_EQ(guards, elements - 9 * 8);
  EXPECT_GT(guards, 0);
}

TEST(ExactCase, FullyMaskedRowsHaveAGradientAndStatistics) {
  Case<Op> c = square(12, 16, Track::exact);
  c.problem.seq_kv = 8, c.problem.sparse_mode = 3, c.problem.atten_mask = MaskShape::compressed;
  const Op::Inputs inputs = plain_exact_case(c).inputs;
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

TEST(ExactCase, NoRowIsMutedWithEightChannelsOrMore) {
  for (const std::int64_t head_dim : {8, 16, 32, 64, 128, 192})
    for (const Track track : {Track::exact, Track::exact_staged})
      for (const std::int64_t mode : {0, 2}) {
        Case<Op> c = square(100, head_dim, track);
        c.problem.sparse_mode = mode;
        if (mode == 2) c.problem.atten_mask = MaskShape::compressed;
        EXPECT_EQ(plain_exact_case(c).muted_rows, 0) << command_line(c);
      }
}

TEST(ExactCase, FewRowsAreMutedWithFewChannels) {
  std::int64_t muted = 0, rows = 0;
  for (std::int64_t head_dim = 1; head_dim < 8; ++head_dim)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Case<Op> c = square(100, head_dim, Track::exact);
      c.seed = seed;
      c.problem.sparse_mode = 2, c.problem.atten_mask = MaskShape::compressed;
      muted += plain_exact_case(c).muted_rows;
      rows += 100;
    }
  EXPECT_LT(muted * 20, rows) << muted << " of " << rows;
}

/// E45.
TEST(ExactCase, EveryKeyIsAttendedToIfCodesDistinguishAllKeys) {
  for (const std::int64_t mode : {0, 2}) {
    Case<Op> c = square(96, 64, Track::exact);
    c.problem.sparse_mode = mode;
    if (mode == 2) c.problem.atten_mask = MaskShape::compressed;
    const AttentionExactCase exact_case = plain_exact_case(c);
    for (std::size_t j = 0; j < 96; ++j) {
      std::int64_t size = 0;
      for (std::size_t d = 0; d < 64; ++d) size += std::abs(exact_case.dv[64 * j + d].numerator);
      EXPECT_GT(size, 0) << "key " << j << " in mode " << mode;
    }
  }
}

TEST(ExactCase, JudgesSampledRowsOfALongSequence) {
  Case<Op> c = square(4096, 64, Track::exact);
  c.rows = 16;
  const AttentionExactCase exact_case = plain_exact_case(c);
  EXPECT_EQ(exact_case.query_rows.size(), 16u);
  EXPECT_EQ(exact_case.dk.size(), 16u * 64u);
  EXPECT_EQ(exact_case.muted_rows, 0);
}

TEST(ExactCase, OneKeyStillHasADscoreForKernelsThatTakeTheOutputAsGiven) {
  Case<Op> c = square(24, 16, Track::exact);
  c.problem.seq_kv = 1, c.seed = 4;
  const auto nonzero = [](const std::vector<Dyadic>& values) {
    return std::count_if(values.begin(), values.end(), [](Dyadic x) { return x.numerator != 0; });
  };
  EXPECT_GT(nonzero(Suite<Op>::exact(c, {.delta = spec::RowTerm::given}).dq), 0);
  EXPECT_EQ(nonzero(Suite<Op>::exact(c, {.delta = spec::RowTerm::own}).dq), 0);
}

/// E46.
TEST(ExactCase, RefusesProblemsWithoutAnExactCase) {
  const auto refused = [](auto change, spec::Numerics numerics = {}) {
    Case<Op> c = square(16, 16, Track::exact);
    c.problem.scale_value = 0.125;
    change(c, numerics);
    EXPECT_THROW(Suite<Op>::exact(c, numerics), NoExactCase);
  };
  using Profile = spec::Numerics;
  refused([](Case<Op>& c, Profile&) { c.problem.scale_value = 0.25; });
  refused([](Case<Op>& c, Profile&) { c.problem.scale_value = 0.3; });
  refused([](Case<Op>& c, Profile&) { c.problem.keep_prob = 0.75; });
  refused([](Case<Op>& c, Profile&) { c.problem.keep_prob = 0x1p-11; });
  refused([](Case<Op>& c, Profile&) { c.track = Track::bound; });
  refused([](Case<Op>&, Profile& n) { n.lse_form = true; });
  refused([](Case<Op>& c, Profile& n) { c.problem.heads_q = 2, n.partials = DType::bf16; });
  refused([](Case<Op>& c, Profile& n) {
    c.track = Track::exact_staged, n.stage = DType::bf16,
    n.round_stage = spec::Rounding::stochastic;
  });
}

TEST(ExactCase, TakesManyShortSequencesAtOnce) {
  Case<Op> c = square(5, 32, Track::exact);
  Op::Problem& p = c.problem;
  c.entry_point = spec::FlashEntryPoint::u1;
  p.input_layout = spec::Layout::tnd;
  p.batch = 2048;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    p.lengths_q.push_back(b % 6);
    p.lengths_kv.push_back(1 + b % 5);
  }
  p.sparse_mode = 2, p.atten_mask = MaskShape::compressed;
  const AttentionExactCase exact_case = plain_exact_case(c);
  EXPECT_EQ(static_cast<std::int64_t>(exact_case.dq.size()), query_extents(p).rows() * 32);
  EXPECT_EQ(static_cast<std::int64_t>(exact_case.key_rows.size()), key_extents(p).rows());
}

TEST(ExactCase, TakesTheCompressedBiasOfLongSequences) {
  Case<Op> c = square(1030, 32, Track::exact);
  c.entry_point = spec::FlashEntryPoint::g2;
  c.problem.sparse_mode = 2, c.problem.atten_mask = MaskShape::compressed;
  c.problem.pse_shift = spec::PseShape::one_nhs;
  const AttentionExactCase exact_case = plain_exact_case(c);
  EXPECT_EQ(exact_case.muted_rows, 0);
  const auto gradient =
      reference::FlashAttentionScoreGrad<double>::from(c.problem, exact_case.inputs);
  for (const std::int64_t i : {0, 5, 6, 7, 1023, 1024, 1029}) {
    auto next = static_cast<std::size_t>(32 * i);
    expect_near(exact_case.dq, next, gradient.dq_row(0, 0, i).dq, c);
  }
}

TEST(ExactCase, FewRowsAreMutedWhateverTheBias) {
  std::int64_t muted = 0, rows = 0;
  for (const Case<Op>& c : family(7, Track::exact)) {
    muted += plain_exact_case(c).muted_rows;
    rows += query_extents(c.problem).rows();
    if (c.problem.pse_shift == spec::PseShape::absent) {
      EXPECT_EQ(plain_exact_case(c).muted_rows, 0) << command_line(c);
    }
  }
  EXPECT_LT(muted * 20, rows) << muted << " of " << rows;
}

TEST(ExactCaseScale, IsAlwaysAcceptedAndNeverCustomary) {
  for (std::int64_t head_dim = 1; head_dim <= 256; ++head_dim)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Case<Op> c = square(2, head_dim, Track::exact);
      c.problem.scale_value = exact_case_scale(c.problem, seed);
      EXPECT_EQ(static_cast<float>(c.problem.scale_value), c.problem.scale_value);
      EXPECT_NE(c.problem.scale_value * c.problem.scale_value * static_cast<double>(head_dim), 1.0);
      EXPECT_NO_THROW(plain_exact_case(c)) << c.problem.scale_value;
    }
}

TEST(ExactCase, ValueOutsideTheTypeIsReportedInARow) {
  spec::Tensor tensor = spec::contiguous_tensor(DType::bf16, {6});
  std::vector<double> buffer;
  exact::store_row_exactly(tensor, 1, 2, std::vector<double>{1, 256, -2}, buffer);
  EXPECT_EQ(tensor.load(1), 1);
  EXPECT_EQ(tensor.load(3), 256);
  EXPECT_EQ(tensor.load(5), -2);
  try {
    exact::store_row_exactly(tensor, 0, 1, std::vector<double>{1, 257, 3}, buffer);
    ADD_FAILURE() << "257 was stored without an error";
  } catch (const NoExactCase& error) {
    EXPECT_STREQ(error.what(), "no exact case: the input 257.000000 is not a number of bf16");
  }
}

TEST(ExactCase, ValueOutsideTheTypeIsReported) {
  spec::Tensor tensor = spec::contiguous_tensor(DType::bf16, {1});
  exact::store_exactly(tensor, 0, 256);
  EXPECT_EQ(tensor.load(0), 256);
  try {
    exact::store_exactly(tensor, 0, 257);
    ADD_FAILURE() << "257 was stored without an error";
  } catch (const NoExactCase& error) {
    EXPECT_STREQ(error.what(), "no exact case: the input 257.000000 is not a number of bf16");
  }
}

}  // namespace
}  // namespace assay::conformance
