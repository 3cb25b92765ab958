#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "attention/bound/bound.hpp"
#include "attention/bound/sums.hpp"
#include "model_kernel.hpp"

/// The formulas of conformance/README.md, worked out by hand (in double, by a script that
/// knows the page and not the code), against what the judge makes of the same numbers.
namespace assay::conformance {
namespace {

using spec::DType;
using testing::Op;
constexpr DType bf16 = DType::bf16, fp16 = DType::fp16;

void expect_close(double found, double wanted, const char* what, double error = 1e-11) {
  EXPECT_NEAR(found, wanted, error * std::abs(wanted)) << what;
}

/// E4, E5, E7, E8, E12, E13, E14. One score with everything that a pair can have: 12 channels of
/// query and key, 9 of value.
TEST(Pencil, TheTermsOfAPair) {
  struct Line {
    const char* name;
    spec::Numerics numerics;
    bool is_dropped;
    std::array<double, 21> terms;
  };
  const Line lines[] = {
      {"nothing staged, with a bias and dropout",
       {.fused = false},
       true,
       {0.0421596898247457,
        2.33702235692072e-07,
        -0.100129263333771,
        0.100129263333771,
        7.84975617760587e-07,
        8.25182454009921e-07,
        1.86344354109178e-14,
        2.13181971201408e-14,
        5.27756219152333e-08,
        1.58317982020707e-07,
        2.6760931021097e-15,
        1.27862938655224e-14,
        1.74767101259648e-15,
        0,
        0.0526996122809322,
        3.01551219624507e-07,
        4.1401221726483e-15,
        7.85301610862494e-08,
        9.19459721611075e-16,
        2.97512178835517e-15,
        0}},
      {"everything stored, operands short and scaled",
       {.store_s = bf16,
        .store_p = bf16,
        .store_dp = bf16,
        .stage = bf16,
        .product = spec::Product32::tf32,
        .operand_scaled = true,
        .lse_form = true,
        .exp_error = 0x1p-18,
        .fused = true,
        .floor = 0x1p-40},
       false,
       {0.0199148273471456,
        0.000384722351738713,
        -0.0472977149494707,
        0.0472977149494707,
        0.00178920019106959,
        0.00178921955022877,
        9.42557330010457e-08,
        9.42557335998739e-08,
        0.00118779643042139,
        0.0011878462851022,
        5.77876515116339e-07,
        5.77915994684935e-07,
        1.07589728409074e-07,
        0,
        0.0199148273471456,
        0.000384725912787342,
        9.77693194599939e-09,
        0.000248472882308197,
        1.21408537776638e-08,
        3.27204448585114e-08,
        0}},
      {"stored scores with a bias, dropped",
       {.store_s = bf16, .store_p = bf16, .stage = bf16, .fused = false, .floor = 0x1p-30},
       true,
       {0.0421596898247457,
        0.000536039850499264,
        -0.100129263333771,
        0.100129263333771,
        0.00151746797323854,
        0.00151750869105935,
        1.09979793809985e-06,
        1.09979794078361e-06,
        9.71197478975711e-06,
        9.81751714986258e-06,
        1.09982936203119e-06,
        1.09983005177784e-06,
        1.09979792121309e-06,
        0,
        0.0526996122809322,
        0.00079212954904909,
        3.03043346688547e-07,
        5.1606719439276e-06,
        3.03043343467885e-07,
        3.03052220979523e-07,
        0}},
      {"truncating sums",
       {.accumulator = spec::Accumulator::fp32_truncating, .fused = false, .floor = 0x1p-40},
       true,
       {0.0421596898247457,
        3.34221032643571e-07,
        -0.100129263333771,
        0.100129263333771,
        1.21971709768308e-06,
        1.25992402979461e-06,
        6.30457191798864e-15,
        8.98833362721158e-15,
        9.22251153041468e-07,
        1.02779351314694e-06,
        2.888033767613e-13,
        3.60091243930728e-13,
        5.28764699919404e-15,
        0,
        0.0526996122809322,
        4.27199715813881e-07,
        2.29895764062112e-15,
        3.29824324102411e-07,
        1.5484663722102e-15,
        3.7809827962081e-14,
        0}},
      {"staged in fp16",
       {.stage = fp16, .round_stage = spec::Rounding::rna},
       false,
       {0.0199148273471456,   1.17515298206406e-07,  -0.0472977149494707,  0.0472977149494707,
        1.56465005004401e-05, 1.56654928718681e-05,  2.32834801558427e-10, 2.32835400386607e-10,
        3.94706223451704e-08, 8.9325303156344e-08,   2.3283157527485e-10,  2.32834314462949e-10,
        2.32831055964841e-10, -4.53114427925033e-06, 0.0199148273471456,   7.75047087808578e-06,
        5.82082521365864e-11, 3.67981959488801e-08,  5.82077961781857e-11, 5.82082475472607e-11,
        -2.10762058307917e-06}},
  };
  const Op::Problem problem = {
      .seq_q = 1, .seq_kv = 1, .head_dim = 12, .head_dim_v = 9, .scale_value = -0.5};
  flash::Dense dense(problem, testing::normal_inputs(problem, 1));
  const flash::RowTerms row = {.live = true,
                               .softmax_max = 1.5,
                               .softmax_sum = 2.5,
                               .delta = 0.375,
                               .omega_rig = 0x1p-20,
                               .omega_ind = 0x1p-21,
                               .omega_com = 0x1p-22,
                               .zeta_rig = 0x1p-19,
                               .zeta_ind = 0x1p-21,
                               .zeta_com = 0x1p-20};
  for (const auto& [name, numerics, is_dropped, terms] : lines) {
    SCOPED_TRACE(name);
    dense.problem.keep_prob = is_dropped ? 0.8 : 1;
    const flash::PairSums sums = {.score = 3,
                                  .score_abs = 5,
                                  .score_sq = 7,
                                  .dprob = -2,
                                  .dprob_abs = 6,
                                  .dprob_sq = 10,
                                  .bias = is_dropped ? 0.75 : 0,
                                  .kappa = is_dropped ? 1.25 : 1};
    const flash::PairTerms t =
        flash::pair_terms(dense, Arithmetic(numerics, DType::bf16), row, sums);
    const std::pair<const char*, double> found[] = {
        {"prob", t.prob},           {"prob_error", t.prob_error}, {"dscore", t.dscore},
        {"magnitude", t.magnitude}, {"rig_q", t.rig_q},           {"rig_k", t.rig_k},
        {"azuma_q", t.azuma_q},     {"azuma_k", t.azuma_k},       {"linear_q", t.linear_q},
        {"linear_k", t.linear_k},   {"core_q", t.core_q},         {"core_k", t.core_k},
        {"spread", t.spread},       {"drift_s", t.drift_s},       {"staged_v", t.staged_v},
        {"rig_v", t.rig_v},         {"azuma_v", t.azuma_v},       {"linear_v", t.linear_v},
        {"spread_v", t.spread_v},   {"core_v", t.core_v},         {"drift_p", t.drift_p}};
    for (std::size_t k = 0; k < terms.size(); ++k)
      expect_close(found[k].second, terms[k], found[k].first);
  }
}

/// Numbers of two and a half bits that are never 0.
double element(std::int64_t index, std::int64_t seed) {
  return static_cast<double>((7 * index * index + 3 * index + seed) % 17 - 8) / 4 + 0.125;
}

spec::Tensor patterned(const spec::Tensor& like, std::int64_t seed) {
  spec::Tensor tensor = like;
  for (std::int64_t e = 0; e < spec::element_count(like.shape); ++e)
    tensor.store(e, element(e, seed));
  return tensor;
}

/// Statistics are the largest score and the sum, rounded to 1/64.
Op::Inputs patterned_inputs(const Op::Problem& p) {
  Op::Inputs inputs = testing::normal_inputs(p, 1);
  inputs.query = patterned(inputs.query, 1);
  inputs.key = patterned(inputs.key, 2);
  inputs.value = patterned(inputs.value, 3);
  inputs.dy = patterned(inputs.dy, 4);
  inputs.attention_in = patterned(inputs.attention_in, 5);
  const flash::Dense dense(p, inputs);
  for (std::int64_t row = 0; row < dense.queries.rows(); ++row) {
    const auto [b, n, i] = dense.queries.position(row);
    std::vector<double> scores;
    for (std::int64_t j = 0; j < p.seq_kv; ++j)
      scores.push_back(p.scale_value * std::inner_product(dense.query(b, n, i),
                                                          dense.query(b, n, i) + p.head_dim,
                                                          dense.key(b, 0, j), 0.0));
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - largest);
    for (std::int64_t k = 0; k < spec::statistics_replicas; ++k) {
      inputs.softmax_max.store(row * spec::statistics_replicas + k, largest);
      inputs.softmax_sum.store(row * spec::statistics_replicas + k, std::nearbyint(64 * sum) / 64);
    }
  }
  return inputs;
}

/// sum over k of k times the k-th number, from 1: no number can move alone.
template <class Numbers>
double weighed(const Numbers& numbers) {
  double sum = 0, weight = 0;
  for (const double x : numbers) sum += ++weight * x;
  return sum;
}

/// What the constants of the fused form add at most to the elements of dq, dk and dv, from the
/// pairs one by one.
std::array<std::vector<double>, 3> constants(const flash::Dense& dense,
                                             const std::vector<flash::RowTerms>& rows) {
  const Op::Problem& p = dense.problem;
  std::array<std::vector<double>, 3> by_score, by_max;
  for (auto* sums : {&by_score, &by_max})
    *sums = {std::vector<double>(80 * 2), std::vector<double>(90 * 2), std::vector<double>(90)};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t j = 0; j < p.seq_kv; ++j) {
      const auto [b, n, i] = dense.queries.position(static_cast<std::int64_t>(r));
      const double *q = dense.query(b, n, i), *k = dense.key(b, 0, j);
      const double score = p.scale_value * (q[0] * k[0] + q[1] * k[1]);
      const double prob = std::exp(score - rows[r].softmax_max) / rows[r].softmax_sum;
      const double dy = *dense.dy(b, n, i);
      const double dscore = p.scale_value * prob * (dy * *dense.value(b, 0, j) - rows[r].delta);
      const auto key = static_cast<std::size_t>(j);
      const auto add = [&](auto& sums, double factor) {
        for (std::size_t d = 0; d < 2; ++d) {
          sums[0][2 * r + d] += factor * dscore * k[d];
          sums[1][2 * key + d] += factor * dscore * q[d];
        }
        sums[2][key] += factor * prob * dy;
      };
      add(by_score, 0x1p-23 * score);
      add(by_max, 0x1p-24 * rows[r].softmax_max);
    }
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t e = 0; e < by_score[t].size(); ++e)
      by_score[t][e] = std::abs(by_score[t][e]) + std::abs(by_max[t][e]);
  return by_score;
}

/// E9, E10, E11, E17, E23. Two query heads of 40 rows that share 90 keys: long enough for the
/// independent members to decide in some profiles.
TEST(Pencil, ToleranceAndDeviationOfWholeGradients) {
  struct Line {
    const char* name;
    DType io;
    spec::Numerics numerics;
    std::vector<std::array<double, 8>> tensors;
  };
  const Line lines[] = {
      {"nothing staged",
       DType::fp32,
       {.fused = false},
       {{-343.006263812058, 0.0610037497257757, 0.073945470638014, 0.00184477664307091,
         2.16516553529258e-32, 0, 5.48045925933703e-10, 1904.61497621432},
        {-3132.55461715408, 0.0654426689852407, 0.0785189035367348, 0.00239000384761202,
         2.67833674095947e-32, 0, 5.80885894674847e-10, 2414.59972725848},
        {-1440.59061648168, 0.0192789279614615, 0.0231744869253118, 0.00054567082445401,
         3.50192991421406e-33, 0, 1.71703756506507e-10, 4350.5261137743}}},
      {"staged in bf16, sums of heads in bf16",
       DType::bf16,
       {.stage = bf16, .partials = bf16, .fused = false},
       {{-343.006263812058, 72.3371324143046, 72.3483966507233, 15.8564936517938,
         2.16516553529258e-32, 1.00446518602252, 1.96977295140954e-07, 1906.3432803383},
        {-3132.55461715408, 119.356466474777, 119.365381766946, 31.6374774842577,
         2.67833674095947e-32, 0.00499966613844075, 2.18878812630562e-07, 2482.65789156695},
        {-1440.59061648168, 30.0321704682619, 30.0381008465965, 7.35017387986121,
         3.50192991421406e-33, -1.43152318678484, 6.86865000159763e-08, 4336.79810119634}}},
      {"fp16 of everything, its own",
       DType::fp16,
       {.store_s = fp16,
        .store_p = fp16,
        .store_dp = fp16,
        .stage = fp16,
        .stats = spec::Origin::own,
        .delta = spec::Origin::own,
        .exp_error = 0x1p-18,
        .fused = false,
        .floor = 0x1p-30},
       {{12.813870251065, 10.0593357963259, 18.3658682766236, 0.602560732776046,
         0.00171542086900445, -1.89540625461221e-08, 1.3501289823593e-07, 1848.71152168382},
        {0.625804355939934, 10.6476427533478, 26.5127657251228, 0.882192472525549,
         0.00212199698580662, 1.5886353001085e-08, 1.90592781429535e-07, 2434.40435096916},
        {-1440.59061648168, 4.0762354462576, 5.18149378891164, 0.38168363557613,
         0.000277451472356915, 0, 3.50023302564497e-08, 4386.04353242814}}},
      {"tf32 operands, one of them scaled, truncating sums",
       DType::fp32,
       {.product = spec::Product32::tf32,
        .accumulator = spec::Accumulator::fp32_truncating,
        .operand_scaled = true,
        .fused = false,
        .floor = 0x1p-40},
       {{-343.006263812058, 28.417967440005, 28.4180029282384, 3.36515446288753,
         1.67521569238716e-06, 0, 1.46122691109932e-07, 1955.95077605965},
        {-3132.55461715408, 31.4850225847777, 31.4852269631006, 3.89667646962394,
         2.07226268145178e-06, 0, 1.60855996516005e-07, 2483.63686760213},
        {-1440.59061648168, 7.82827980752059, 7.82831108806072, 0.836439768683856,
         2.7094870347355e-07, 0, 3.41558825749239e-08, 4359.48430165842}}},
      {"sums of heads and a scaled operand in fp16",
       DType::fp16,
       {.stage = fp16, .partials = fp16, .operand_scaled = true, .fused = false},
       {{-343.006263812058, 27.580460628792, 27.5959373246301, 3.57766005781235,
         2.16516553529258e-32, -0.00499806494420862, 9.76500385878829e-08, 1906.32074249766},
        {-3132.55461715408, 25.5535999801253, 25.5625021603814, 4.34377602564426,
         2.67833674095947e-32, -0.021273512563625, 1.07764001294487e-07, 2482.65727105719},
        {-1440.59061648168, 6.03594581083965, 6.04061836881023, 0.969769278603104,
         3.50192991421406e-33, 0.00649329861980912, 2.56543026406672e-08, 4336.79810205893}}},
      {"a row term of its own",
       DType::bf16,
       {.stage = bf16, .delta = spec::Origin::own, .fused = false},
       {{12.813870251065, 17.0499362719716, 17.077276273864, 2.10133644050067, 2.16516553529258e-32,
         -0.497770939016804, 1.12753346531958e-07, 1846.27264703795},
        {0.625804355939934, 24.3463181623299, 24.3517174111071, 4.75604672244523,
         2.67833674095947e-32, -0.617849769423105, 1.2603193536082e-07, 2380.12074083792},
        {-1440.59061648168, 13.0783787719197, 13.0843091502542, 2.43669721191306,
         3.50192991421406e-33, -1.43152318678484, 6.86865000159763e-08, 4336.79810119634}}},
      {"own statistics, fused",
       DType::fp32,
       {.stats = spec::Origin::own, .delta = spec::Origin::own, .floor = 0x1p-50},
       {{12.813870251065, 0.204288365614997, 1.8107951407974, 0.0501475526180307,
         1.63595282459683e-09, 0, 1.34909972776416e-08, 1839.54348960452},
        {0.625804355939934, 1.30708838742728, 2.62288233031665, 0.176546952047132,
         2.02369402485525e-09, 0, 1.95401743457488e-08, 2413.59411179021},
        {-1440.59061648168, 0.645679209120795, 0.653676501082595, 0.0825914735455792,
         2.64598343235889e-10, 0, 4.86930982753674e-09, 4353.84298778845}}},
  };
  for (const auto& [name, io, numerics, tensors] : lines) {
    SCOPED_TRACE(name);
    const Op::Problem p = {.dtype = io,
                           .heads_q = 2,
                           .heads_kv = 1,
                           .seq_q = 40,
                           .seq_kv = 90,
                           .head_dim = 2,
                           .head_dim_v = 1,
                           .scale_value = -0.5};
    const Op::Inputs inputs = patterned_inputs(p);
    const flash::Dense dense(p, inputs);
    const Arithmetic n(numerics, io);
    flash::JudgedRows all;
    all.query = flash::ascending(0, 80), all.key = flash::ascending(0, 90);
    const flash::AllRowTerms rows = flash::row_terms(dense, n);
    auto made = flash::expectations(dense, n, rows, all);
    const auto of_constants = constants(dense, rows.rows);
    for (std::size_t t = 0; t < 3; ++t) {
      SCOPED_TRACE(made[t].name);
      Expectation& e = made[t];
      if (numerics.fused)  // the lines are those of all other parts of sigma
        for (std::size_t k = 0; k < e.sigma.size(); ++k)
          e.sigma[k] = std::sqrt(flash::square(e.sigma[k]) - flash::square(of_constants[t][k]));
      expect_close(weighed(e.value), tensors[t][0], "value");
      expect_close(weighed(e.tau), tensors[t][1], "tau");
      expect_close(weighed(e.tau_det), tensors[t][2], "tau_det");
      expect_close(weighed(e.sigma), tensors[t][3], "sigma");
      expect_close(weighed(e.floor), tensors[t][4], "floor");
      expect_close(weighed(e.drift), tensors[t][5], "drift", 1e-9);  // it cancels
      expect_close(weighed(e.radius), tensors[t][6], "radius");
      expect_close(weighed(e.share), tensors[t][7], "share");
    }
  }
}

}  // namespace
}  // namespace assay::conformance
