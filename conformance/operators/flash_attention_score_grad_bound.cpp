#include "operators/flash_attention_score_grad_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "assay/conformance/parallel.hpp"
#include "assay/conformance/vector_loops.hpp"

namespace assay::conformance::flash {
namespace {

constexpr double false_alarm = 1e-9;  // alpha of one tensor
constexpr std::int64_t rows_per_task = 32, keys_per_task = 128;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Sums over pairs that make one row of one tensor, a stream of `dim` channels each.
class RowSums {
 public:
  enum Stream : std::int64_t { signed_sum, magnitude, rigorous, azuma, linear, squares, core,
                               drift,
                               prob, prob_error, partial_abs, streams };

  RowSums(std::int64_t rows, std::int64_t dim)
      : dim_(dim), sums_(at(rows * streams * dim), 0.0), spread_(at(rows), 0.0),
        spread_squares_(at(rows), 0.0), exempt_(at(rows), 0) {}

  double* stream(std::int64_t row, Stream which) {
    return sums_.data() + (row * streams + which) * dim_;
  }
  double value(std::int64_t row, Stream which, std::int64_t d) const {
    return sums_[at((row * streams + which) * dim_ + d)];
  }
  void add_spread(std::int64_t row, double q) {
    spread_[at(row)] += q;
    spread_squares_[at(row)] += q * q;
  }
  /// sum q^2 / (sum q)^2: 1 / number of pairs that matter.
  double concentration(std::int64_t row) const {
    const double sum = spread_[at(row)];
    return sum > 0 ? spread_squares_[at(row)] / square(sum) : 0;
  }
  void exempt(std::int64_t row) { exempt_[at(row)] = 1; }
  bool is_exempt(std::int64_t row) const { return exempt_[at(row)] != 0; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_;
  std::vector<double> sums_, spread_, spread_squares_;
  std::vector<std::uint8_t> exempt_;
};

double norm_squared(const double* x, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * x[d];
  return sum;
}

/// One summand of a row: coefficients that multiply a row x of K, Q or dO.
struct Summand {
  double signed_sum, magnitude, rigorous, azuma, linear, core, spread, drift;
  bool overflow;
};

void add(RowSums& sums, std::int64_t row, const Summand& c, const double* x, double x_norm_squared) {
  const std::int64_t dim = sums.dim();
  add_scaled(c.signed_sum, x, dim, sums.stream(row, RowSums::signed_sum));
  add_scaled_abs(c.magnitude, x, dim, sums.stream(row, RowSums::magnitude));
  add_scaled_abs(c.rigorous, x, dim, sums.stream(row, RowSums::rigorous));
  add_scaled_abs(c.linear, x, dim, sums.stream(row, RowSums::linear));
  add_scaled_squares(c.azuma, x, dim, sums.stream(row, RowSums::azuma));
  add_scaled_squares(square(c.signed_sum), x, dim, sums.stream(row, RowSums::squares));
  add_scaled_squares(c.core, x, dim, sums.stream(row, RowSums::core));
  if (c.drift != 0) add_scaled(c.drift, x, dim, sums.stream(row, RowSums::drift));
  sums.add_spread(row, c.spread * x_norm_squared);
  if (c.overflow) sums.exempt(row);
}

Summand query_summand(const PairTerms& t) {
  return {t.dscore, t.magnitude, t.rig_q, t.azuma_q, t.linear_q, t.core_q, t.spread, t.drift_s,
          t.dscore_may_overflow || t.dprob_may_overflow};
}
Summand key_summand(const PairTerms& t) {
  return {t.dscore, t.magnitude, t.rig_k, t.azuma_k, t.linear_k, t.core_k, t.spread, t.drift_s,
          t.dscore_may_overflow || t.dprob_may_overflow};
}
Summand value_summand(const PairTerms& t) {
  return {t.staged_v, t.staged_v, t.rig_v, t.azuma_v, t.linear_v, t.core_v, t.spread_v, t.drift_p,
          t.prob_may_overflow};
}

/// Effective number of independent channels: (tr C)^2 / tr(C^2) of C = X^T X, from at most 512 evenly spaced rows.
double effective_channels(std::span<const double* const> rows, std::int64_t dim) {
  constexpr std::int64_t most_rows = 512;
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t step = std::max<std::int64_t>(1, count / most_rows);
  std::vector<double> gram(at(dim * dim), 0.0);
  for (std::int64_t k = 0; k < count; k += step)
    for (std::int64_t d = 0; d < dim; ++d)
      add_scaled(rows[at(k)][d], rows[at(k)], dim, gram.data() + d * dim);
  double trace = 0;
  for (std::int64_t d = 0; d < dim; ++d) trace += gram[at(d * dim + d)];
  const double squares = norm_squared(gram.data(), dim * dim);
  return squares > 0 ? square(trace) / squares : 1;
}

/// The numbers of one element that the formulas of 4.3 and 4.5 combine.
struct ElementSums {
  double ref, magnitude, rig, azuma, linear, squares, core, drift;
  double terms;                ///< n, length of the last sum
  double omega_coherent = 0;   ///< dq: contribution of the row's common errors to tau
  double sigma_coherent = 0;   ///< the same, squared, of sigma
  double scaled_operand = 0;   ///< 2 u_k |scale| sum s|K|, dq only
  double partials = 0;         ///< sum over heads |partial| with 16-bit partials
  double floor = 0;            ///< Phi
};

class Finisher {
 public:
  Finisher(const Arithmetic& n, std::int64_t elements)
      : n_(n), lambda_(std::sqrt(2 * std::log(2 * static_cast<double>(elements) / false_alarm))) {}

  double lambda() const { return lambda_; }

  void finish(const ElementSums& s, Expectation& e, std::size_t k) const {
    const double prob = lambda_ * std::sqrt(s.azuma) + s.linear + s.omega_coherent;
    const double core = n_.mean_free ? std::min(s.rig, prob) : s.rig;
    const double total = s.magnitude + s.rig;
    const double acc_det = (s.terms + 4) * n_.u_a * total;
    const double acc = n_.mean_free && !n_.truncating_sums
                           ? std::min(s.terms + 4, lambda_ * std::sqrt(s.terms) + 4) * n_.u_a * total
                           : acc_det;
    const double u_o = unit_roundoff(n_.io);
    const bool narrow_partials = n_.profile.partials != spec::DType::fp32;
    const double part = narrow_partials
                            ? u_o * s.partials + 2 * u_o * (std::abs(s.ref) + core) : 0;
    const double extra = 2 * n_.u_x * total + s.scaled_operand + 2 * n_.u * std::abs(s.ref) + part +
                         s.floor;
    const double before_cast = std::abs(s.ref) + extra;
    e.value[k] = s.ref;
    e.drift[k] = s.drift;
    e.floor[k] = s.floor;
    e.tau_det[k] = s.rig + acc_det + extra + n_.out_error(before_cast + s.rig + acc_det);
    e.tau[k] = core + acc + extra + n_.out_error(before_cast + core + acc);
    // Every rigorous term is convex in the unit roundoffs and 0 at 0: with double's units, at least 2^27 times
    // smaller, the same formula bounds the error of this reference by that share.
    e.radius[k] = 0x1p-27 * (s.rig + acc_det) + 0x1p-52 * std::abs(s.ref);
    e.core[k] = static_cast<float>(core);
    e.accumulation[k] = static_cast<float>(acc);
    e.extra[k] = static_cast<float>(extra);
    const double h_o = n_.out_error(std::abs(s.ref));
    // Residues of masked pairs are as large as the floor; they matter where |ref| is barely larger.
    e.sigma[k] = std::sqrt(s.core / 3 + square(s.linear) / 81 + s.sigma_coherent +
                           square(n_.u_a) * (s.terms / 3) * (square(s.ref) + s.squares) +
                           h_o * h_o / 3 + 2 * square(n_.u_x) * s.squares / 3 + part * part / 6 +
                           4 * square(n_.u * s.ref) / 3 + square(s.floor));
  }

 private:
  const Arithmetic& n_;
  double lambda_;
};

/// Whether scores can differ enough for rows of dv to differ. Where all probabilities of a row are about equal, so are all
/// rows of dv, and so are the roundings of their casts: a mean over such rows says nothing.
bool scores_vary(const Dense& dense) {
  constexpr double least = 0x1p-6;
  const Op::Problem& p = dense.problem;
  double query = 0, key = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i)
        query = std::max(query, norm_squared(dense.query(b, n, i), p.head_dim));
    for (std::int64_t n = 0; n < p.heads_kv; ++n)
      for (std::int64_t j = 0; j < p.seq_kv; ++j)
        key = std::max(key, norm_squared(dense.key(b, n, j), p.head_dim));
  }
  return std::abs(dense.scale) * std::sqrt(query * key) > least;
}

Expectation blank(const Dense& dense, const std::string& name, const spec::Extents& extents,
                  const std::vector<std::int64_t>& judged) {
  Expectation e;
  e.name = name;
  e.batch = extents.batch, e.heads = extents.heads, e.seq = extents.seq, e.dim = extents.dim;
  for (std::int64_t head = 0; head < e.batch * e.heads; ++head)
    for (const std::int64_t row : judged) e.rows.push_back(head * e.seq + row);
  e.resize(e.row_count());
  e.biasable = scores_vary(dense);
  return e;
}

/// Degrees of freedom of 5.3, from the share that each row contributes.
void add_freedom(Expectation& e, std::span<const double> row_shares) {
  double sum = 0;
  std::int64_t rows = 0;
  for (const double share : row_shares)
    if (share > 0) sum += share, ++rows;
  e.nu = sum > 0 ? square(static_cast<double>(rows)) / sum : 0;
}

/// All that the passes share.
struct Pass {
  const Dense& dense;
  const Arithmetic& arithmetic;
  const AllRowTerms& rows;
  const JudgedRows& judged;
  const Floor& floor;
};

/// Sums of the judged query rows [first, last) of head (b, n) over all keys.
RowSums sum_query_rows(const Pass& pass, const Columns& columns, std::int64_t b, std::int64_t n,
                       std::span<const std::int64_t> queries) {
  const Op::Problem& p = pass.dense.problem;
  RowSums sums(static_cast<std::int64_t>(queries.size()), p.head_dim);
  std::vector<double> norms(at(p.seq_kv));
  for (std::int64_t j = 0; j < p.seq_kv; ++j)
    norms[at(j)] = norm_squared(pass.dense.key(b, n / p.group(), j), p.head_dim);
  Products products;
  for (std::size_t r = 0; r < queries.size(); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    const RowTerms& terms = pass.rows.rows[at(pass.dense.query_row(b, n, queries[r]))];
    if (!terms.live) continue;
    columns.multiply(n, queries[r], products);
    if (!products.any_kept) continue;
    for (std::size_t c = 0; c < products.keep.size(); ++c) {
      if (products.keep[c] == 0) continue;
      const PairTerms t =
          pair_terms(pass.dense, pass.arithmetic, terms, sums_of(products, c));
      const double* key = pass.dense.key(b, n / p.group(), static_cast<std::int64_t>(c));
      add(sums, row, query_summand(t), key, norms[c]);
      add_scaled(t.prob, key, p.head_dim, sums.stream(row, RowSums::prob));
      add_scaled_abs(t.prob_error, key, p.head_dim, sums.stream(row, RowSums::prob_error));
    }
  }
  return sums;
}

void finish_query_row(const Pass& pass, const Finisher& finisher, const RowSums& sums,
                      std::int64_t row, Expectation& e, std::int64_t k) {
  const Op::Problem& p = pass.dense.problem;
  const Arithmetic& n = pass.arithmetic;
  const std::int64_t flat = e.rows[at(k)];
  const RowTerms& terms = pass.rows.rows[at(flat)];
  const double scale = std::abs(pass.dense.scale), lambda = finisher.lambda();
  for (std::int64_t d = 0; d < p.head_dim; ++d) {
    const auto sum = [&](RowSums::Stream which) { return sums.value(row, which, d); };
    const double ref = pass.dense.scale * sum(RowSums::signed_sum);
    const double pk = scale * std::abs(sum(RowSums::prob));
    const double epk = scale * sum(RowSums::prob_error);
    const double common =
        std::min(terms.omega_rig, terms.omega_com + lambda * terms.omega_ind) * epk +
        terms.omega_com * pk + terms.zeta_com * std::abs(ref) +
        lambda * std::hypot(terms.omega_ind * pk, terms.zeta_ind * ref);
    const std::int64_t head = flat / p.seq_q;
    finisher.finish(
        {.ref = ref,
         .magnitude = scale * sum(RowSums::magnitude),
         .rig = scale * sum(RowSums::rigorous) + terms.omega_rig * (pk + epk),
         .azuma = square(scale) * sum(RowSums::azuma),
         .linear = scale * sum(RowSums::linear),
         .squares = square(scale) * sum(RowSums::squares),
         .core = square(scale) * sum(RowSums::core),
         .drift = pass.dense.scale * sum(RowSums::drift),
         .terms = static_cast<double>(p.seq_kv),
         .omega_coherent = common,
         .sigma_coherent = square(terms.omega_ind * pk) / 3 + square(terms.omega_com * pk) / 9 +
                           square(terms.zeta_ind * ref) / 3 + square(terms.zeta_com * ref) / 9,
         .scaled_operand = 2 * n.u_k * scale * sum(RowSums::magnitude),
         .floor = n.phi * pass.floor.dq(p, head / p.heads_q, head % p.heads_q, flat % p.seq_q, d)},
        e, at(k * p.head_dim + d));
  }
  e.exempt[at(k)] = sums.is_exempt(row) ? 1 : 0;
}

Expectation query_expectation(const Pass& pass) {
  const Op::Problem& p = pass.dense.problem;
  Expectation e = blank(pass.dense, "dq", query_extents(p), pass.judged.query);
  const auto judged = static_cast<std::int64_t>(pass.judged.query.size());
  const std::int64_t blocks = (judged + rows_per_task - 1) / rows_per_task;
  const Finisher finisher(pass.arithmetic, spec::element_count({p.batch, p.heads_q, p.seq_q, p.head_dim}));
  std::vector<double> shares(at(e.row_count()), 0.0);
  std::vector<std::int64_t> keys(at(p.seq_kv));
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<double> channels(at(p.batch * p.heads_kv));
  parallel_for(p.batch * p.heads_kv, [&](std::int64_t head) {
    std::vector<const double*> rows;
    for (std::int64_t j = 0; j < p.seq_kv; ++j)
      rows.push_back(pass.dense.key(head / p.heads_kv, head % p.heads_kv, j));
    channels[at(head)] = effective_channels(rows, p.head_dim);
  });
  parallel_for(p.batch * p.heads_q * blocks, [&](std::int64_t task) {
    const std::int64_t head = task / blocks, first = task % blocks * rows_per_task;
    const std::int64_t b = head / p.heads_q, n = head % p.heads_q, kv = n / p.group();
    const std::int64_t count = std::min(rows_per_task, judged - first);
    const Columns columns(pass.dense, b, kv, keys);
    const RowSums sums = sum_query_rows(pass, columns, b, n,
                                        std::span(pass.judged.query).subspan(at(first), at(count)));
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t k = head * judged + first + r;
      finish_query_row(pass, finisher, sums, r, e, k);
      if (sums.concentration(r) > 0)
        shares[at(k)] = 1 / channels[at(b * p.heads_kv + kv)] + sums.concentration(r);
    }
  });
  add_freedom(e, shares);
  return e;
}

/// Sums of some keys of (b, kv) over all queries of the group.
struct KeySums {
  RowSums dk, dv;
};

/// Adds |what one query head contributed| to the stream partial_abs of every row.
class PartialTracker {
 public:
  explicit PartialTracker(RowSums& sums, std::int64_t rows)
      : sums_(sums), before_(at(rows * sums.dim()), 0.0), rows_(rows) {}
  void head_done() {
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t d = 0; d < sums_.dim(); ++d) {
        double& before = before_[at(r * sums_.dim() + d)];
        const double now = sums_.value(r, RowSums::signed_sum, d);
        sums_.stream(r, RowSums::partial_abs)[d] += std::abs(now - before);
        before = now;
      }
  }

 private:
  RowSums& sums_;
  std::vector<double> before_;
  std::int64_t rows_;
};

KeySums sum_keys(const Pass& pass, std::int64_t b, std::int64_t kv,
                 std::span<const std::int64_t> keys) {
  const Op::Problem& p = pass.dense.problem;
  const auto count = static_cast<std::int64_t>(keys.size());
  KeySums sums{RowSums(count, p.head_dim), RowSums(count, p.head_dim_v)};
  const Columns columns(pass.dense, b, kv, keys);
  PartialTracker dk_partials(sums.dk, count), dv_partials(sums.dv, count);
  Products products;
  for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n) {
    for (std::int64_t i = 0; i < p.seq_q; ++i) {
      const RowTerms& terms = pass.rows.rows[at(pass.dense.query_row(b, n, i))];
      if (!terms.live) continue;
      columns.multiply(n, i, products);
      if (!products.any_kept) continue;
      const double* query = pass.dense.query(b, n, i);
      const double* dy = pass.dense.dy(b, n, i);
      const double query_norm = norm_squared(query, p.head_dim);
      const double dy_norm = norm_squared(dy, p.head_dim_v);
      for (std::size_t c = 0; c < products.keep.size(); ++c) {
        if (products.keep[c] == 0) continue;
        const PairTerms t = pair_terms(pass.dense, pass.arithmetic, terms, sums_of(products, c));
        add(sums.dk, static_cast<std::int64_t>(c), key_summand(t), query, query_norm);
        add(sums.dv, static_cast<std::int64_t>(c), value_summand(t), dy, dy_norm);
      }
    }
    if (p.group() > 1) dk_partials.head_done(), dv_partials.head_done();
  }
  return sums;
}

void finish_key_row(const Pass& pass, const Finisher& finisher, const RowSums& sums,
                    std::int64_t row, double scale, std::span<const double> floor, Expectation& e,
                    std::int64_t k) {
  const Op::Problem& p = pass.dense.problem;
  const double magnitude = std::abs(scale);
  for (std::int64_t d = 0; d < e.dim; ++d) {
    const auto sum = [&](RowSums::Stream which) { return sums.value(row, which, d); };
    finisher.finish({.ref = scale * sum(RowSums::signed_sum),
                     .magnitude = magnitude * sum(RowSums::magnitude),
                     .rig = magnitude * sum(RowSums::rigorous),
                     .azuma = square(scale) * sum(RowSums::azuma),
                     .linear = magnitude * sum(RowSums::linear),
                     .squares = square(scale) * sum(RowSums::squares),
                     .core = square(scale) * sum(RowSums::core),
                     .drift = scale * sum(RowSums::drift),
                     .terms = static_cast<double>(p.group() * p.seq_q),
                     .partials = magnitude * sum(RowSums::partial_abs),
                     .floor = pass.arithmetic.phi * floor[at(d)]},
                    e, at(k * e.dim + d));
  }
  e.exempt[at(k)] = sums.is_exempt(row) ? 1 : 0;
}

/// Effective channels of the rows of Q and of dO that a kv head sees.
std::pair<double, double> group_channels(const Dense& dense, std::int64_t b, std::int64_t kv) {
  const Op::Problem& p = dense.problem;
  std::vector<const double*> query, dy;
  for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n)
    for (std::int64_t i = 0; i < p.seq_q; ++i)
      query.push_back(dense.query(b, n, i)), dy.push_back(dense.dy(b, n, i));
  return {effective_channels(query, p.head_dim), effective_channels(dy, p.head_dim_v)};
}

std::pair<Expectation, Expectation> key_expectations(const Pass& pass) {
  const Op::Problem& p = pass.dense.problem;
  Expectation dk = blank(pass.dense, "dk", key_extents(p), pass.judged.key);
  Expectation dv = blank(pass.dense, "dv", value_extents(p), pass.judged.key);
  const auto judged = static_cast<std::int64_t>(pass.judged.key.size());
  const std::int64_t heads = p.batch * p.heads_kv;
  // Small enough blocks for every core, large enough to run along keys.
  const std::int64_t width = heads >= 4 ? keys_per_task : std::min<std::int64_t>(keys_per_task, 48);
  const std::int64_t blocks = (judged + width - 1) / width;
  const Finisher finish_dk(pass.arithmetic, spec::element_count({heads, p.seq_kv, p.head_dim}));
  const Finisher finish_dv(pass.arithmetic, spec::element_count({heads, p.seq_kv, p.head_dim_v}));
  std::vector<double> dk_shares(at(dk.row_count()), 0.0), dv_shares(at(dv.row_count()), 0.0);
  std::vector<std::pair<double, double>> channels(at(heads));
  parallel_for(heads, [&](std::int64_t head) {
    channels[at(head)] = group_channels(pass.dense, head / p.heads_kv, head % p.heads_kv);
  });
  parallel_for(heads * blocks, [&](std::int64_t task) {
    const std::int64_t head = task / blocks, first = task % blocks * width;
    const std::int64_t count = std::min(width, judged - first);
    const KeySums sums = sum_keys(pass, head / p.heads_kv, head % p.heads_kv,
                                  std::span(pass.judged.key).subspan(at(first), at(count)));
    const std::span<const double> dk_floor(pass.floor.dk.data() + head * p.head_dim, at(p.head_dim));
    const std::span<const double> dv_floor(pass.floor.dv.data() + head * p.head_dim_v,
                                           at(p.head_dim_v));
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t k = head * judged + first + r;
      finish_key_row(pass, finish_dk, sums.dk, r, pass.dense.scale, dk_floor, dk, k);
      finish_key_row(pass, finish_dv, sums.dv, r, 1.0, dv_floor, dv, k);
      if (sums.dk.concentration(r) > 0)
        dk_shares[at(k)] = 1 / channels[at(head)].first + sums.dk.concentration(r);
      if (sums.dv.concentration(r) > 0)
        dv_shares[at(k)] = 1 / channels[at(head)].second + sums.dv.concentration(r);
    }
  });
  add_freedom(dk, dk_shares);
  add_freedom(dv, dv_shares);
  return {std::move(dk), std::move(dv)};
}

}  // namespace

Floor floor_of(const Dense& dense) {
  const Op::Problem& p = dense.problem;
  const double scale = std::abs(dense.scale);
  Floor floor{.query_row = std::vector<double>(at(p.batch * p.heads_q * p.seq_q)),
              .key_sum = std::vector<double>(at(p.batch * p.heads_kv * p.head_dim), 0.0),
              .dk = std::vector<double>(at(p.batch * p.heads_kv * p.head_dim), 0.0),
              .dv = std::vector<double>(at(p.batch * p.heads_kv * p.head_dim_v), 0.0)};
  for (std::int64_t head = 0; head < p.batch * p.heads_kv; ++head) {
    const std::int64_t b = head / p.heads_kv, kv = head % p.heads_kv;
    double largest_value = 0;
    for (std::int64_t j = 0; j < p.seq_kv; ++j) {
      largest_value = std::max(largest_value, norm_squared(dense.value(b, kv, j), p.head_dim_v));
      add_scaled_abs(scale, dense.key(b, kv, j), p.head_dim,
                     floor.key_sum.data() + head * p.head_dim);
    }
    for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        const double* dy = dense.dy(b, n, i);
        const double* o = dense.attention_in(b, n, i);
        double row = std::sqrt(norm_squared(dy, p.head_dim_v) * largest_value);
        for (std::int64_t d = 0; d < p.head_dim_v; ++d) row += std::abs(dy[d] * o[d]);
        floor.query_row[at(dense.query_row(b, n, i))] = row;
        add_scaled_abs(scale * row, dense.query(b, n, i), p.head_dim,
                       floor.dk.data() + head * p.head_dim);
        add_scaled_abs(1.0, dy, p.head_dim_v, floor.dv.data() + head * p.head_dim_v);
      }
  }
  return floor;
}

std::array<Expectation, 3> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                        const AllRowTerms& rows, const JudgedRows& judged) {
  const Floor floor = floor_of(dense);
  const Pass pass{dense, arithmetic, rows, judged, floor};
  Expectation dq = query_expectation(pass);
  auto [dk, dv] = key_expectations(pass);
  return {std::move(dq), std::move(dk), std::move(dv)};
}

}  // namespace assay::conformance::flash
