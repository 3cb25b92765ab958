#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attention/bound/bound.hpp"
#include "block_problem.hpp"
#include "model_kernel.hpp"

/// The bound of the suite, written by hand, beside the engine's of the same numerics. What the
/// engine is to replace it with may differ where
///   - a row's error and those of its pairs, without mean and independent, add in quadrature, not
///     linearly (E17): dq in fp32 down to 0.80,
///   - e_P omega enters dq once, not twice, and the rounding of kappa P once, not three times,
///   - a sum comes to lie below a power of two, so that its cast rounds by half as much: to 0.75,
///   - noise that hides a known rounding (E2) has the row's share in it: up to 1.002 in fp16,
///   - float sums of the engine are a little larger than what they sum: up to 1.00005.
namespace assay::conformance {
namespace {

using testing::Op;
namespace attention = engine::attention;

struct Named {
  std::string name;
  std::string numerics;
  Op::Problem problem;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

Op::Problem problem_of(spec::DType dtype, std::int64_t dim, double scale) {
  return {.dtype = dtype,
          .heads_q = 2,
          .heads_kv = 1,
          .seq_q = 67,
          .seq_kv = 101,
          .head_dim = dim,
          .head_dim_v = dim,
          .scale_value = scale};
}

/// Numerics with statistics and row term as given.
std::vector<Named> cases() {
  using spec::DType;
  return {
      {"bf16_a2", "ascend_a2", problem_of(DType::bf16, 64, 0.125)},
      {"fp16_a2", "ascend_a2", problem_of(DType::fp16, 64, 0.125)},
      {"fp32_a2", "ascend_a2", problem_of(DType::fp32, 64, 0.125)},
      {"fp32_fused", "fp32_staging", problem_of(DType::fp32, 64, 0.125)},
      {"bf16_unstaged", "fp32_staging", problem_of(DType::bf16, 24, 0.25)},
      {"bf16_peaked", "ascend_a2", problem_of(DType::bf16, 40, 4)},
      {"bf16_coarse_exponential", "ascend_a2,exp_error=1e-4", problem_of(DType::bf16, 40, 0.25)},
      {"bf16_truncated", "ascend_a2,round_stage=rtz,round_out=rtz",
       problem_of(DType::bf16, 40, 0.25)},
  };
}

engine::Store store_of(spec::DType type, spec::Rounding rounding) {
  using engine::Direction;
  const Direction direction = rounding == spec::Rounding::rne   ? Direction::nearest_even
                              : rounding == spec::Rounding::rna ? Direction::nearest_away
                                                                : Direction::truncated;
  if (type == spec::DType::bf16) return {8, -126, direction};
  if (type == spec::DType::fp16) return {11, -14, direction};
  return {};
}

/// All query heads of the problem's one key head, row by row.
attention::Head head_of(const flash::Dense& dense, const Arithmetic& n) {
  const Op::Problem& p = dense.problem;
  attention::Head head = {
      .queries = dense.queries.rows(),
      .keys = p.seq_kv,
      .dim = p.head_dim,
      .dim_v = p.head_dim_v,
      .query = {dense.query(0, 0, 0), dense.query(0, 0, 0) + dense.queries.rows() * p.head_dim},
      .key = {dense.key(0, 0, 0), dense.key(0, 0, 0) + p.seq_kv * p.head_dim},
      .value = {dense.value(0, 0, 0), dense.value(0, 0, 0) + p.seq_kv * p.head_dim_v},
      .dy = {dense.dy(0, 0, 0), dense.dy(0, 0, 0) + dense.queries.rows() * p.head_dim_v},
      .attention_in = {dense.attention_in(0, 0, 0),
                       dense.attention_in(0, 0, 0) + dense.queries.rows() * p.head_dim_v},
      .max = {},
      .sum = {},
      .kappa = {},
      .times = {},
      .call = {}};
  for (std::int64_t row = 0; row < head.queries; ++row) {
    head.max.push_back(dense.softmax_max(row));
    head.sum.push_back(dense.softmax_sum(row));
  }
  head.kappa.assign(static_cast<std::size_t>(head.queries * head.keys), 1.0);
  head.times = head.kappa;
  head.call = {.scale = dense.scale,
               .dim = static_cast<double>(p.head_dim),
               .dim_v = static_cast<double>(p.head_dim_v),
               .exp_error = n.eps_x,
               .floor = n.phi,
               .fused = n.numerics.fused,
               .units = {.u_sum = n.u_a},
               .score = {},
               .prob = {},
               .dprob = {},
               .stage = store_of(n.numerics.stage, n.numerics.round_stage)};
  return head;
}

/// Ratios of the engine's to those by hand, sorted.
std::vector<double> ratios(const std::vector<engine::Bound>& bounds, double engine::Bound::*of,
                           const std::vector<double>& by_hand) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < by_hand.size(); ++k)
    if (by_hand[k] > 0) ratios.push_back(bounds[k].*of / by_hand[k]);
  std::ranges::sort(ratios);
  return ratios;
}

class EngineBound : public ::testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Cases, EngineBound, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(EngineBound, IsThatWrittenByHandOrALittleLess) {
  const auto& [name, numerics, problem] = GetParam();
  const Op::Inputs inputs = testing::normal_inputs(problem, 5);
  const flash::Dense dense(problem, inputs);
  const Arithmetic n(spec::numerics_from_text(numerics, problem.dtype), problem.dtype);
  flash::JudgedRows judged;
  judged.query = flash::ascending(0, query_extents(problem).rows());
  judged.key = flash::ascending(0, key_extents(problem).rows());
  const auto expected = flash::expectations(dense, n, flash::row_terms(dense, n), judged);
  const attention::Head head = head_of(dense, n);
  const engine::Output output = {.units = head.call.units,
                                 .averages = n.mean_free,
                                 .store = store_of(problem.dtype, n.numerics.round_out)};
  const auto bounds =
      attention::block_bounds(head, attention::PairsOfHead(head), output, {.rows = 48});
  const std::vector<engine::Bound>* of_engine[] = {&bounds.dq, &bounds.dk, &bounds.dv};
  for (std::size_t t = 0; t < 3; ++t) {
    const Expectation& e = expected[t];
    SCOPED_TRACE(e.name);
    for (std::size_t k = 0; k < e.value.size(); ++k)
      ASSERT_NEAR((*of_engine[t])[k].value, e.value[k], e.radius[k]) << k;
    const auto tau = ratios(*of_engine[t], &engine::Bound::probable, e.tau);
    const auto proven = ratios(*of_engine[t], &engine::Bound::proven, e.tau_det);
    RecordProperty(e.name + "_tau", std::to_string(tau.front()) + " " +
                                        std::to_string(tau[tau.size() / 2]) + " " +
                                        std::to_string(tau.back()));
    RecordProperty(e.name + "_proven", std::to_string(proven.front()) + " " +
                                           std::to_string(proven[proven.size() / 2]) + " " +
                                           std::to_string(proven.back()));
    EXPECT_GE(tau.front(), 0.7);
    EXPECT_GE(tau[tau.size() / 2], 0.94);
    EXPECT_LE(tau.back(), 1.005);
    EXPECT_GE(proven.front(), 0.7);
    EXPECT_GE(proven[proven.size() / 2], 0.99);
    EXPECT_LE(proven.back(), 1.0001);
  }
}

}  // namespace
}  // namespace assay::conformance
