#include "operators/flash_attention_score_grad_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/conformance/parallel.hpp"
#include "assay/conformance/vector_loops.hpp"
#include "assay/reference/real.hpp"

namespace assay::conformance::flash {
namespace {

std::vector<double> dense_copy(const spec::Tensor& tensor, spec::Layout layout,
                               const spec::Extents& e) {
  std::vector<double> copy(static_cast<std::size_t>(e.batch * e.heads * e.seq * e.dim));
  const spec::HeadView view(tensor, layout, e);
  double* row = copy.data();
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s, row += e.dim)
        view.read_row(b, n, s, {row, static_cast<std::size_t>(e.dim)});
  return copy;
}

std::vector<double> first_replicas(const spec::Tensor& statistics, const Op::Problem& p) {
  const spec::HeadView view(statistics, spec::Layout::bnsd,
                            {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas});
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(p.batch * p.heads_q * p.seq_q));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) values.push_back(view(b, n, i, 0));
  return values;
}

/// expm1 for a small non-negative argument, never too small.
double growth(double x) { return x < 0x1p-12 ? x * (1 + x) : std::expm1(x); }

/// Noise of a staged value beside what its row shares, in standard deviations.
constexpr double deviations = 4;

}  // namespace

Dense::Dense(const Op::Problem& p, const Op::Inputs& inputs)
    : problem(p),
      scale(static_cast<double>(static_cast<float>(p.scale_value))),
      mask(p, inputs.atten_mask ? &*inputs.atten_mask : nullptr),
      query_(dense_copy(inputs.query, p.input_layout, query_extents(p))),
      key_(dense_copy(inputs.key, p.input_layout, key_extents(p))),
      value_(dense_copy(inputs.value, p.input_layout, value_extents(p))),
      dy_(dense_copy(inputs.dy, p.input_layout, dy_extents(p))),
      attention_in_(dense_copy(inputs.attention_in, p.input_layout, dy_extents(p))),
      softmax_max_(first_replicas(inputs.softmax_max, p)),
      softmax_sum_(first_replicas(inputs.softmax_sum, p)) {}

Columns::Columns(const Dense& dense, std::int64_t b, std::int64_t kv,
                 std::span<const std::int64_t> keys)
    : dense_(&dense), b_(b), keys_(keys.begin(), keys.end()) {
  const auto transpose = [&](std::int64_t dim, auto row, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(dim * size()));
    for (std::int64_t c = 0; c < size(); ++c)
      for (std::int64_t d = 0; d < dim; ++d)
        to[static_cast<std::size_t>(d * size() + c)] = row(key(c))[d];
  };
  transpose(dense.problem.head_dim, [&](std::int64_t j) { return dense.key(b, kv, j); }, key_);
  transpose(dense.problem.head_dim_v, [&](std::int64_t j) { return dense.value(b, kv, j); },
            value_);
}

void Columns::multiply(std::int64_t n, std::int64_t i, Products& products) const {
  const auto columns = static_cast<std::size_t>(size());
  products.keep.assign(columns, 0);
  products.any_kept = false;
  for (std::size_t c = 0; c < columns; ++c)
    if (dense_->mask.keeps(b_, n, i, keys_[c])) products.keep[c] = 1, products.any_kept = true;
  if (!products.any_kept) return;
  const auto sums = [&](const double* row, const std::vector<double>& matrix, std::int64_t dim,
                        std::vector<double>& sum, std::vector<double>& absolute,
                        std::vector<double>& squares) {
    sum.assign(columns, 0), absolute.assign(columns, 0), squares.assign(columns, 0);
    for (std::int64_t d = 0; d < dim; ++d)
      add_products(row[d], matrix.data() + d * size(), size(),
                   {sum.data(), absolute.data(), squares.data()});
  };
  sums(dense_->query(b_, n, i), key_, dense_->problem.head_dim, products.score, products.score_abs,
       products.score_sq);
  sums(dense_->dy(b_, n, i), value_, dense_->problem.head_dim_v, products.dprob,
       products.dprob_abs, products.dprob_sq);
}

namespace {

/// Error of the exponent S - m of one pair.
struct ExponentError {
  double score;
  double coherent, total;  ///< xi_c; xi without the error of the statistics
  double v2, v2_moment;    ///< squares of the mean-free part: a priori, second moment
  double h_s;              ///< rounding of stored scores
};

ExponentError exponent_error(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                             const PairSums& sums) {
  const double dim = static_cast<double>(dense.problem.head_dim);
  const double score = dense.scale * sums.score;
  const double a = std::abs(dense.scale) * sums.score_abs;
  const double m = std::abs(row.softmax_max);
  const double dot = a * (dim + 4) * n.u_a;
  double coherent = a * (n.u_k + 2 * n.u_x);
  if (n.profile.fused) coherent += 2 * n.u * (std::abs(score) + m);
  if (n.profile.lse_form) coherent += n.u * (m + std::abs(std::log(row.softmax_sum)));
  if (n.truncating_sums) coherent += dot;
  const double element = 3 * n.u * (std::abs(score) + m) + 4 * n.u;
  const double free_dot = n.truncating_sums ? 0 : a * (std::sqrt(dim) + 2) * n.u_a;
  const double h_s = n.store_s_error(std::abs(score) + coherent + element + dot);
  const double moment_dot =
      square(n.u_a * dense.scale) * ((dim / 2 + 1) * sums.score_sq + dim * square(sums.score) / 3);
  return {.score = score,
          .coherent = coherent,
          .total = coherent + element + (n.truncating_sums ? 0 : dot) + h_s,
          .v2 = square(free_dot) + square(element),
          .v2_moment = moment_dot + square(n.u) * (2 * square(score) + square(m) + 4) +
                       square(2 * n.u_x * a),
          .h_s = h_s};
}

double probability(const RowTerms& row, double score) {
  return reference::exp(score - row.softmax_max) / row.softmax_sum;
}

/// Error of dP of one pair: total, and the rounding of a stored dP.
struct GradientError {
  double total, h_dp;
};

GradientError gradient_error(const Dense& dense, const Arithmetic& n, const PairSums& sums) {
  const double dim = static_cast<double>(dense.problem.head_dim_v);
  const double before = sums.dprob_abs * ((dim + 4) * n.u_a + 2 * n.u_x + n.u_k) +
                        2 * n.u * std::abs(sums.dprob);
  const double h_dp = n.store_dp_error(std::abs(sums.dprob) + before);
  return {before + h_dp, h_dp};
}

}  // namespace

namespace {

/// What the terms of dS and of P share.
struct Staged {
  ExponentError exponent;
  GradientError dp;
  double prob, rho;    ///< P and its relative error
  double h_p, error;   ///< rounding of a stored P; e_P
  double coherent;     ///< relative error of P that a row shares
};

Staged staged_probability(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                          const PairSums& sums) {
  const ExponentError x = exponent_error(dense, n, row, sums);
  const double p = probability(row, x.score);
  const double rho = growth(x.total + n.eps_x + 4 * n.u + row.zeta_rig);
  const double h_p = n.store_p_error(p + p * rho + n.phi);
  return {.exponent = x,
          .dp = gradient_error(dense, n, sums),
          .prob = p,
          .rho = rho,
          .h_p = h_p,
          .error = p * rho + n.phi + h_p,
          .coherent = x.coherent + n.eps_x + 4 * n.u + rho * rho};
}

/// Fills the terms of dS, which dq and dk sum.
void dscore_terms(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                  const PairSums& sums, const Staged& staged, PairTerms& t) {
  const auto& [x, dp, p, rho, h_p, e_p, coherent] = staged;
  const double dim_v = static_cast<double>(dense.problem.head_dim_v), u = n.u;
  const double distance = std::abs(t.dprob - row.delta);
  const double s = p * distance;
  const double sub = u * (std::abs(t.dprob) + std::abs(row.delta) + dp.total + row.omega_rig);
  const double e0 = (p + e_p) * (dp.total + 2 * sub) + e_p * distance + 2 * u * s;
  const double e = e0 + (p + e_p) * row.omega_rig;
  const double h = n.stage_error(s + e), h_s = n.stage_error(s);
  const double free_dp = n.truncating_sums ? 0 : sums.dprob_abs * (std::sqrt(dim_v) + 2) * n.u_a;
  const double mean_dp = n.truncating_sums ? sums.dprob_abs * (dim_v + 4) * n.u_a : 0;
  const double moment_dp =
      square(n.u_a) * ((dim_v / 2 + 1) * sums.dprob_sq + dim_v * square(sums.dprob) / 3);
  const auto w2 = [&, &exponent = x, &gradient = dp, prob = p, stored = h_p](double v2, double dp2) {
    return square(distance) * (prob * prob * (v2 + square(exponent.h_s)) + square(stored)) +
           prob * prob * (square(gradient.h_dp) + dp2) + 4 * square(prob * sub) + 4 * square(u * s);
  };
  const double shared = square(s * row.zeta_ind) + square(p * row.omega_ind);
  const double noise = w2(x.v2_moment, moment_dp);
  t.dscore = p * (t.dprob - row.delta);
  t.magnitude = s;
  t.rig_q = h + e0;
  t.rig_k = h + e;
  t.azuma_q = w2(x.v2, square(free_dp)) + h * h;
  t.azuma_k = t.azuma_q + shared;
  t.linear_q = s * coherent + p * sums.dprob_abs * (n.u_k + 2 * n.u_x) + p * mean_dp +
               n.phi * distance + e_p * (dp.total + row.omega_rig);
  t.linear_k = t.linear_q + s * row.zeta_com + p * row.omega_com;
  t.spread = noise + h_s * h_s;
  t.drift_s = n.stage_drift(t.dscore, deviations * std::sqrt(noise) + t.linear_k);
  t.core_q = t.spread + square(t.linear_q) / 3;
  t.core_k = t.spread + shared + square(t.linear_k) / 3;
  t.dscore_may_overflow = n.profile.stage == spec::DType::fp16 &&
                          s + e >= overflow_threshold(spec::DType::fp16);
}

/// Fills the terms of P, which dv sums.
void prob_terms(const Arithmetic& n, const RowTerms& row, const Staged& staged, PairTerms& t) {
  const ExponentError& x = staged.exponent;
  const double p = staged.prob;
  const double e = staged.error + 3 * n.u * p;
  const bool stored = n.profile.store_p != spec::DType::fp32;
  const double h = stored ? 0 : n.stage_error(p + e), h_p = stored ? 0 : n.stage_error(p);
  const auto w2 = [&](double v2) {
    return p * p * (v2 + square(x.h_s) + square(row.zeta_ind)) + square(staged.h_p);
  };
  const double noise = w2(x.v2_moment);
  t.staged_v = p;
  t.rig_v = h + e;
  t.azuma_v = h * h + w2(x.v2);
  t.linear_v = p * (staged.coherent + row.zeta_com) + n.u * p + n.phi;
  t.spread_v = h_p * h_p + noise;
  t.drift_p = stored ? 0 : n.stage_drift(p, deviations * std::sqrt(noise) + t.linear_v);
  t.core_v = t.spread_v + square(t.linear_v) / 3;
  t.prob_may_overflow =
      n.profile.stage == spec::DType::fp16 && p + e >= overflow_threshold(spec::DType::fp16);
}

}  // namespace

PairTerms pair_terms(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                     const PairSums& sums) {
  const Staged staged = staged_probability(dense, n, row, sums);
  PairTerms t;
  t.prob = staged.prob;
  t.prob_error = staged.error;
  t.dprob = sums.dprob;
  dscore_terms(dense, n, row, sums, staged, t);
  prob_terms(n, row, staged, t);
  t.dprob_may_overflow = n.profile.store_dp == spec::DType::fp16 &&
                         std::abs(t.dprob) + staged.dp.total >= largest_finite(spec::DType::fp16);
  return t;
}

namespace {

/// Row term and its error from attention_in as given.
void given_delta(const Dense& dense, std::int64_t b, std::int64_t n, std::int64_t i, double u,
                 RowTerms& row) {
  const double* dy = dense.dy(b, n, i);
  const double* o = dense.attention_in(b, n, i);
  double magnitude = 0;
  row.delta = 0;
  for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d) {
    row.delta += dy[d] * o[d];
    magnitude += std::abs(dy[d] * o[d]);
  }
  const double dim = static_cast<double>(dense.problem.head_dim_v);
  row.omega_rig = (dim + 4) * u * magnitude;
  row.omega_ind = (std::sqrt(dim) + 2) * u * magnitude;
  row.omega_com = 2 * u * std::abs(row.delta);
}

/// Error of statistics that the kernel computes itself; returns the sum of the probabilities.
double own_statistics(const Dense& dense, const Arithmetic& n, const Products& products,
                      RowTerms& row) {
  double sum = 0, grown = 0, independent = 0, common = 0;
  for (std::size_t c = 0; c < products.keep.size(); ++c) {
    if (products.keep[c] == 0) continue;
    const ExponentError x = exponent_error(dense, n, row, sums_of(products, c));
    const double p = probability(row, x.score);
    sum += p;
    grown += p * std::exp(x.total);
    independent += p * p * (x.v2 + square(x.h_s));
    common += p * x.coherent;
  }
  if (n.profile.stats == spec::Origin::own) {
    const double fixed = std::abs(std::log(sum)) +
                         (static_cast<double>(products.keep.size()) + 4) * n.u + n.eps_x;
    row.zeta_rig = std::abs(std::log(grown / sum)) + fixed;
    row.zeta_ind = std::sqrt(independent);
    row.zeta_com = common + fixed;
  }
  return sum;
}

/// Row term sum_j P dP of the kernel's own, and its error.
void own_delta(const Dense& dense, const Arithmetic& n, const Products& products, RowTerms& row) {
  const double keys = static_cast<double>(products.keep.size());
  const double dim = static_cast<double>(dense.problem.head_dim_v);
  row.delta = 0;
  for (std::size_t c = 0; c < products.keep.size(); ++c)
    if (products.keep[c] != 0)
      row.delta += probability(row, dense.scale * products.score[c]) * products.dprob[c];
  double rigorous = 0, independent = 0, common = 0;
  for (std::size_t c = 0; c < products.keep.size(); ++c) {
    if (products.keep[c] == 0) continue;
    const PairSums sums = sums_of(products, c);
    const ExponentError x = exponent_error(dense, n, row, sums);
    const GradientError dp = gradient_error(dense, n, sums);
    const double p = probability(row, x.score);
    const double rho = growth(x.total + n.eps_x + 4 * n.u + row.zeta_rig);
    const double h_p = n.store_p_error(p + p * rho + n.phi);
    const double e_p = p * rho + n.phi + h_p;
    const double magnitude = std::abs(sums.dprob);
    // An error common to a row's P leaves sum_j P (dP - delta) alone only where the kernel normalises P itself.
    const double t = n.profile.stats == spec::Origin::own ? std::abs(sums.dprob - row.delta) : magnitude;
    rigorous += e_p * magnitude + (p + e_p) * dp.total +
                (keys + 4) * n.u * (p + e_p) * (magnitude + dp.total);
    independent += square(p * t) * (x.v2 + square(x.h_s)) + square(sums.dprob * h_p) +
                   p * p * (square(dp.h_dp) + square(sums.dprob_abs * std::sqrt(dim) * n.u_a));
    common += p * t * (x.coherent + n.eps_x + 4 * n.u + rho * rho) + e_p * dp.total +
              p * sums.dprob_abs * (n.u_k + 2 * n.u_x) + (keys + 6) * n.u * p * magnitude;
  }
  row.omega_rig = rigorous;
  row.omega_ind = std::sqrt(independent);
  row.omega_com = common;
}

/// Whether attention_in is the rounded output of the forward that the statistics belong to.
bool output_belongs(const Dense& dense, std::int64_t b, std::int64_t n, std::int64_t i,
                    const Products& products, const RowTerms& row) {
  const std::int64_t kv = n / dense.problem.group();
  std::vector<double> output(static_cast<std::size_t>(dense.problem.head_dim_v), 0.0);
  for (std::size_t c = 0; c < products.keep.size(); ++c)
    if (products.keep[c] != 0)
      add_scaled(probability(row, dense.scale * products.score[c]),
                 dense.value(b, kv, static_cast<std::int64_t>(c)), dense.problem.head_dim_v,
                 output.data());
  const spec::FloatFormat format = spec::format_of(dense.problem.dtype);
  const double* given = dense.attention_in(b, n, i);
  for (std::size_t d = 0; d < output.size(); ++d) {
    const double ulp = std::max(std::ldexp(1.0, 1 - format.significand_bits) * std::abs(output[d]),
                                std::ldexp(1.0, format.min_exponent + 1 - format.significand_bits));
    if (std::abs(output[d] - given[d]) > ulp) return false;
  }
  return true;
}

}  // namespace

AllRowTerms row_terms(const Dense& dense, const Arithmetic& n) {
  const Op::Problem& p = dense.problem;
  AllRowTerms all;
  all.rows.resize(static_cast<std::size_t>(p.batch * p.heads_q * p.seq_q));
  std::vector<std::uint8_t> inconsistent(static_cast<std::size_t>(p.batch * p.heads_q), 0);
  const bool own = n.profile.stats == spec::Origin::own || n.profile.delta == spec::Origin::own;
  std::vector<std::int64_t> keys(static_cast<std::size_t>(p.seq_kv));
  std::iota(keys.begin(), keys.end(), 0);
  parallel_for(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    const std::optional<Columns> columns =
        own ? std::optional<Columns>(std::in_place, dense, b, head / p.group(), keys)
            : std::nullopt;
    Products products;
    for (std::int64_t i = 0; i < p.seq_q; ++i) {
      const std::int64_t flat = dense.query_row(b, head, i);
      RowTerms& row = all.rows[static_cast<std::size_t>(flat)];
      row.softmax_max = dense.softmax_max(flat);
      row.softmax_sum = dense.softmax_sum(flat);
      row.live = row.softmax_max != -static_cast<double>(std::numeric_limits<float>::max());
      given_delta(dense, b, head, i, n.u, row);
      if (!own || !row.live) continue;
      columns->multiply(head, i, products);
      if (!products.any_kept) continue;
      const double sum = own_statistics(dense, n, products, row);
      if (std::abs(sum - 1) > 0x1p-18 || !output_belongs(dense, b, head, i, products, row))
        inconsistent[static_cast<std::size_t>(task)] = 1;
      if (n.profile.delta == spec::Origin::own) own_delta(dense, n, products, row);
    }
  });
  all.consistent = std::count(inconsistent.begin(), inconsistent.end(), 1) == 0;
  return all;
}

}  // namespace assay::conformance::flash
