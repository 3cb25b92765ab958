#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "attention/bound/bound.hpp"
#include "attention/bound/head_pairs.hpp"
#include "model_kernel.hpp"

/// Compares the judge's numbers with the formulas in conformance/README.md and engine/README.md.
/// The script pencil.py evaluates these formulas in double. It was written from the two pages,
/// without the code.
namespace assay::conformance {
namespace {

using spec::DType;
using testing::Op;
constexpr DType bf16 = DType::bf16, fp16 = DType::fp16;

/// A bound is a float sum that is rounded upwards, so it may be larger than the formula but never
/// smaller (engine/blocks/README.md, B1).
void expect_no_less(double found, double wanted, const char* what) {
  EXPECT_GE(found, wanted * (1 - 1e-9)) << what;
  EXPECT_LE(found, wanted * (1 + 5e-5)) << what;
}

void expect_close(double found, double wanted, const char* what, double error = 4e-11) {
  EXPECT_NEAR(found, wanted, error * std::abs(wanted)) << what;
}

/// Equations E12, E13, E14, computed by hand for one query and one key. All features are used:
/// bias, dropout and rope channels. Query and key have 12 channels, value has 9.
TEST(Pencil, TermsOfAPairMatchIndependentValues) {
  struct Line {
    const char* name;
    spec::Numerics numerics;
    bool is_dropped;
    std::array<std::array<double, 9>, 2> terms;  ///< of dS and of kappa P
  };
  const Line lines[] = {
      {"nothing staged, with a bias and dropout",
       {.fused = false},
       true,
       {{{-0.121209108246144, 9.92292291477017e-07, 7.20897651205798e-07, 2.78584220255258e-14,
          2.6020880918091e-15, 6.40847250989255e-08, -0.0421596898247457, 0.121209108246144, 0},
         {0.0526996122809322, 2.95268976164515e-07, 1.9475244273073e-07, 3.50865066419102e-15,
          2.8798644883726e-16, 2.82719117817809e-08, 0, -0.0526996122809322, 0}}}},
      {"everything stored, operands short and scaled",
       {.store_s = bf16,
        .store_p = bf16,
        .store_dp = bf16,
        .stage = bf16,
        .product = spec::Product32::tf32,
        .operand_scaled = true,
        .lse_form = true,
        .exp_error = 0x1p-18,
        .log_error = 0x1p-12,
        .fused = true,
        .floor = 0x1p-40},
       false,
       {{{-0.0472977149494707, 0.00180412865633431, 0.00180401945084301, 9.42557336406543e-08,
          1.21205920795343e-07, 0.00120294718276569, -0.0199148273471456, 0.0472977149494707, 0},
         {0.0199148273471456, 0.00039090641143741, 0.000390868426918697, 9.77693196880812e-09,
          1.21408536887744e-08, 0.000254736547179353, 0, -0.0199148273471456, 0}}}},
      {"stored scores with a bias, dropped",
       {.store_s = bf16, .store_p = bf16, .stage = bf16, .fused = false, .floor = 0x1p-30},
       true,
       {{{-0.121209108246144, 0.00178557983644933, 0.00178530844180906, 1.1355232987974e-06,
          1.13552327351046e-06, 1.1756902458789e-05, -0.0421596898247457, 0.121209108246144, 0},
         {0.0526996122809322, 0.000792123381069916, 0.000792022864536482, 2.18288428626553e-07,
          2.18288425400103e-07, 5.11045507570664e-06, 0, -0.0526996122809322, 0}}}},
      {"truncating sums",
       {.accumulator = spec::Accumulator::fp32_truncating, .fused = false, .floor = 0x1p-40},
       true,
       {{{-0.121209108246144, 1.52629571386421e-06, 1.25490107359299e-06, 9.23858015055668e-15,
          7.91275729945364e-15, 1.13208208689251e-06, -0.0421596898247457, 0.121209108246144, 0},
         {0.0526996122809322, 4.20917502310784e-07, 3.20400968876999e-07, 1.66748796705414e-15,
          9.16993170009368e-16, 2.79566082287641e-07, 0, -0.0526996122809322, 0}}}},
      {"staged in fp16",
       {.stage = fp16, .round_stage = spec::Rounding::rna, .fused = false},
       false,
       {{{-0.0472977149494707, 1.56438296273509e-05, 1.55346241360502e-05, 2.32834801560409e-10,
          2.32831055965458e-10, 2.25554111085865e-08, -0.0199148273471456, 0.0472977149494707,
          -4.53114427925033e-06},
         {0.0199148273471456, 7.74097468197176e-06, 7.70299016325849e-06, 5.82081619603696e-11,
          5.8207706001727e-11, 1.06837644062063e-08, 0, -0.0199148273471456,
          -2.10762058307917e-06}}}},
  };
  const Op::Problem problem = {
      .seq_q = 1, .seq_kv = 1, .head_dim = 12, .head_dim_v = 9, .scale_value = -0.5};
  for (const auto& [name, numerics, is_dropped, terms] : lines) {
    SCOPED_TRACE(name);
    const Op::Inputs inputs = testing::normal_inputs(problem, 1);
    attention::Dense dense(problem, inputs);
    dense.largest_kappa = is_dropped ? 1.25 : 1;
    dense.largest_row = 0x1p120;  // large enough to show the underflow of an operand
    attention::Call call = attention::call_of(dense, Arithmetic(numerics, DType::bf16));
    call.biased = is_dropped;
    const std::array<engine::Symbol, 2> of_row = {{{0x1p-20, 0x1p-21, 0x1p-22},    // of delta
                                                   {0x1p-19, 0x1p-21, 0x1p-20}}};  // of m
    engine::ToleranceReading<double, 2> on(call.units, of_row);
    const attention::Row<double> row = {.max = 1.5, .sum = 2.5, .delta = 0.375};
    const attention::Pair<double> pair = {.score = {3, 5, 7},
                                          .dprob = {-2, 6, 10},
                                          .kappa = is_dropped ? 1.25 : 1,
                                          .bias = is_dropped ? 0.75 : 0};
    const auto found = attention::pair_terms(on, call, row, pair);
    for (std::size_t c = 0; c < 2; ++c) {
      const auto& x = found[c].number;
      const std::pair<const char*, double> named[] = {
          {"value", x.value},     {"rigorous", x.rigorous}, {"additive", x.additive},
          {"squares", x.squares}, {"moment", x.moment},     {"shared", x.shared},
          {"by delta", x.by[0]},  {"by m", x.by[1]},        {"drift", found[c].drift}};
      for (std::size_t k = 0; k < terms[c].size(); ++k)
        expect_close(named[k].second, terms[c][k], named[k].first);
    }
  }
}

/// Makes pseudo-random numbers with few bits that are never 0.
double element(std::int64_t index, std::int64_t seed) {
  return static_cast<double>((7 * index * index + 3 * index + seed) % 17 - 8) / 4 + 0.125;
}

double product_of(const attention::FloatRow& x, const attention::FloatRow& y, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * y[d];
  return sum;
}

spec::Tensor patterned(const spec::Tensor& like, std::int64_t seed) {
  spec::Tensor tensor = like;
  for (std::int64_t e = 0; e < spec::element_count(like.shape); ++e)
    tensor.store(e, element(e, seed));
  return tensor;
}

/// Makes inputs. The statistics are the largest score and the sum of the exponentials, rounded to a
/// multiple of 1/64.
Op::Inputs patterned_inputs(const Op::Problem& p) {
  Op::Inputs inputs = testing::normal_inputs(p, 1);
  inputs.query = patterned(inputs.query, 1);
  inputs.key = patterned(inputs.key, 2);
  inputs.value = patterned(inputs.value, 3);
  inputs.dy = patterned(inputs.dy, 4);
  inputs.attention_in = patterned(inputs.attention_in, 5);
  const attention::Dense dense(p, inputs);
  for (std::int64_t row = 0; row < dense.queries.rows(); ++row) {
    const auto [b, n, i] = dense.queries.position(row);
    std::vector<double> scores;
    for (std::int64_t j = 0; j < p.seq_kv; ++j)
      scores.push_back(p.scale_value *
                       product_of(dense.query(b, n, i), dense.key(b, 0, j), p.head_dim));
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

/// Returns the sum of k * number k over all numbers. This checksum changes if any single number
/// changes.
template <class Numbers>
double weighed(const Numbers& numbers) {
  double sum = 0, weight = 0;
  for (const double x : numbers) sum += ++weight * x;
  return sum;
}

/// Returns an upper bound of the errors of dq, dk and dv that come from the rounded constants of
/// the fused form (the exponent as one multiply-add). The bound is computed pair by pair.
std::array<std::vector<double>, 3> constants(const attention::Dense& dense,
                                             const std::vector<attention::RowTerms>& rows) {
  const Op::Problem& p = dense.problem;
  std::array<std::vector<double>, 3> by_score, by_max;
  for (auto* sums : {&by_score, &by_max})
    *sums = {std::vector<double>(80 * 2), std::vector<double>(90 * 2), std::vector<double>(90)};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t j = 0; j < p.seq_kv; ++j) {
      const auto [b, n, i] = dense.queries.position(static_cast<std::int64_t>(r));
      const attention::FloatRow q = dense.query(b, n, i), k = dense.key(b, 0, j);
      const double score = p.scale_value * (q[0] * k[0] + q[1] * k[1]);
      const double prob = std::exp(score - rows[r].max) / rows[r].sum;
      const double dy = dense.dy(b, n, i)[0];
      const double dscore = p.scale_value * prob * (dy * dense.value(b, 0, j)[0] - rows[r].delta);
      const auto key = static_cast<std::size_t>(j);
      const auto add = [&](auto& sums, double factor) {
        for (std::size_t d = 0; d < 2; ++d) {
          sums[0][2 * r + d] += factor * dscore * k[d];
          sums[1][2 * key + d] += factor * dscore * q[d];
        }
        sums[2][key] += factor * prob * dy;
      };
      add(by_score, 0x1p-23 * score);
      add(by_max, 0x1p-24 * rows[r].max);
    }
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t e = 0; e < by_score[t].size(); ++e)
      by_score[t][e] = std::abs(by_score[t][e]) + std::abs(by_max[t][e]);
  return by_score;
}

/// The error bounds of the gradients (equations E4, E5, E7, E8, E9, E10, E11, E15, E17, E23) for
/// two query heads of 40 rows that share 90 keys. In a case of this size, the probable error is
/// smaller than the worst case for some input distributions.
TEST(Pencil, ToleranceAndDeviationOfGradientsMatchIndependentValues) {
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
       {{-343.006263812058, 0.059189936664691, 0.0732897692210736, 0.00185996036293505,
         2.16516553529258e-32, 0, 5.43160569679272e-10, 1904.61499174668},
        {-3132.55461715408, 0.0654113099243213, 0.0777751458118553, 0.00239000398929932,
         2.67833674095947e-32, 0, 5.75344467801048e-10, 2414.59973293453},
        {-1440.59061648168, 0.0192638074210494, 0.0227790494671101, 0.00054567084414564,
         3.50192991421406e-33, 0, 1.68757517853133e-10, 4350.52611785373}}},
      {"staged in bf16, sums of heads in bf16",
       DType::bf16,
       {.stage = bf16, .partials = bf16, .fused = false},
       {{-343.006263812058, 72.3364713263341, 72.3477355619339, 15.8564918942621,
         2.16516553529258e-32, 1.00446518602244, 1.96972407827569e-07, 1906.3432803383},
        {-3132.55461715408, 119.355716651992, 119.364631943508, 31.6374754323235,
         2.67833674095947e-32, 0.00499966613847916, 2.18873269317516e-07, 2482.65789156695},
        {-1440.59061648168, 30.0317890357851, 30.0377024523098, 7.35017274372353,
         3.50192991421406e-33, -1.43152318678485, 6.86835537773229e-08, 4336.79810119634}}},
      {"fp16 of everything, its own",
       DType::fp16,
       {.store_s = fp16,
        .store_p = fp16,
        .store_dp = fp16,
        .stage = fp16,
        .stats = spec::Origin::own,
        .delta = spec::RowTerm::own,
        .exp_error = 0x1p-18,
        .fused = false,
        .floor = 0x1p-30},
       {{12.813870251065, 7.6853817427775, 15.3878669826691, 0.603400540130149, 0.00171542086900445,
         -1.89540625461221e-08, 1.12825059577578e-07, 1848.71152168014},
        {0.625804355939909, 10.6482471291509, 26.5112621398889, 0.882210452529866,
         0.00212199698580662, 1.5886353001085e-08, 1.90581578846566e-07, 2434.40435096428},
        {-1440.59061648168, 4.07623572363744, 5.18109863009891, 0.381683643711776,
         0.000277451472356915, 0, 3.49993860938669e-08, 4386.87131933339}}},
      {"tf32 operands, one of them scaled, truncating sums",
       DType::fp32,
       {.product = spec::Product32::tf32,
        .accumulator = spec::Accumulator::fp32_truncating,
        .operand_scaled = true,
        .fused = false,
        .floor = 0x1p-40},
       {{-343.006263812058, 28.4173297831466, 28.4173504615902, 3.42248838133884,
         1.67521569238716e-06, 0, 1.46117834597217e-07, 1919.38581482066},
        {-3132.55461715408, 31.4843524186403, 31.4844867032907, 4.0013641717, 2.07226268145178e-06,
         0, 1.60850486531418e-07, 2404.36300395169},
        {-1440.59061648168, 7.82791634776468, 7.82791634776468, 0.83643979414372,
         2.7094870347355e-07, 0, 3.41529443998163e-08, 4359.48430165865}}},
      {"sums of heads and a scaled operand in fp16",
       DType::fp16,
       {.stage = fp16, .partials = fp16, .operand_scaled = true, .fused = false},
       {{-343.006263812058, 27.5797851955505, 27.5952828861688, 3.57767812375642,
         2.16516553529258e-32, -0.00499806494420862, 9.76451675509893e-08, 1906.32074251441},
        {-3132.55461715408, 25.5528575948717, 25.5617597744757, 4.34377588073201,
         2.67833674095947e-32, -0.021273512563625, 1.07758475484734e-07, 2482.65727105192},
        {-1440.59061648168, 6.03558053589159, 6.04022311655183, 0.96976915588855,
         3.50192991421406e-33, 0.00649329861980498, 2.56513604369803e-08, 4336.79810206292}}},
      {"a row term of its own",
       DType::bf16,
       {.stage = bf16, .delta = spec::RowTerm::own, .fused = false},
       {{12.813870251065, 17.0489065641142, 17.0762266408294, 2.10133851515154,
         2.16516553529258e-32, -0.497770939016886, 1.12745526156436e-07, 1846.27264703795},
        {0.625804355939909, 24.3448152446606, 24.3502144921164, 4.75604672244536,
         2.67833674095947e-32, -0.617849769423072, 1.26020737741749e-07, 2380.12074083792},
        {-1440.59061648168, 13.0780002962713, 13.083913712796, 2.43669721191306,
         3.50192991421406e-33, -1.43152318678485, 6.86835537773229e-08, 4336.79810119634}}},
      {"own statistics, fused",
       DType::fp32,
       {.stats = spec::Origin::own, .delta = spec::RowTerm::own, .floor = 0x1p-50},
       {{12.813870251065, 0.201492022567422, 0.937737758871585, 0.053603322733271,
         1.63595282459683e-09, 0, 6.98621288786402e-09, 1839.54232700416},
        {0.625804355939909, 1.30709463141231, 2.62137925674318, 0.176546916276603,
         2.02369402485525e-09, 0, 1.95289755749465e-08, 2413.59961958434},
        {-1440.59061648168, 0.645679246237239, 0.653281101900345, 0.0825914785791333,
         2.64598343235889e-10, 0, 4.86636387406143e-09, 4350.52611785373}}},
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
    const attention::Dense dense(p, inputs);
    const Arithmetic n(numerics, io);
    attention::JudgedRows all;
    all.query = attention::ascending(0, 80), all.key = attention::ascending(0, 90);
    const attention::AllRowTerms rows = attention::row_terms(dense, n);
    auto made = attention::expectations(dense, n, rows, all);
    const auto of_constants = constants(dense, rows.rows);
    for (std::size_t t = 0; t < 3; ++t) {
      SCOPED_TRACE(made[t].name);
      Expectation& e = made[t];
      if (numerics.fused)  // the other parts of sigma are computed for the same rows
        for (std::size_t k = 0; k < e.sigma.size(); ++k)
          e.sigma[k] = std::sqrt(engine::square(e.sigma[k]) - engine::square(of_constants[t][k]));
      expect_close(weighed(e.value), tensors[t][0], "value");
      expect_no_less(weighed(e.tau), tensors[t][1], "tau");
      expect_no_less(weighed(e.tau_det), tensors[t][2], "tau_det");
      expect_no_less(weighed(e.sigma), tensors[t][3], "sigma");
      expect_close(weighed(e.floor), tensors[t][4], "floor");
      expect_close(weighed(e.drift), tensors[t][5], "drift", 1e-9);  // with cancellation
      expect_no_less(weighed(e.radius), tensors[t][6], "radius");
      expect_close(weighed(e.share), tensors[t][7], "share", 1e-6);
    }
  }
}

}  // namespace
}  // namespace assay::conformance
