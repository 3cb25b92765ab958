#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention::flash {
namespace {

/// A factor that covers products of two errors, and the judge's own rounding.
constexpr double slack = 1 + 0x1p-10;

using spec::at;

/// One row with unmasked keys: its exact statistics, and the errors that all results of the row
/// share.
struct LiveRow {
  attention::Row<double> exact;
  double keys = 0;       ///< number of unmasked keys
  double max_error = 0;  ///< of softmax_max
  double rescaling = 0;  ///< relative error of the rescaling after a new maximum
  double sum_error = 0;  ///< relative, of softmax_sum
};

/// The scores of a row, computed with the formula of the kernel, and their errors.
struct Scores {
  Scores(const Dense& of, const Arithmetic& arithmetic)
      : dense(of), n(arithmetic), call(call_of(of, arithmetic)), on(call.units, {}) {}

  const Dense& dense;
  const Arithmetic& n;
  attention::Call call;
  PairReading on;

  /// Calls visit(score, c) for every unmasked key of a row with these statistics.
  template <class Visitor>
  void visit_kept(const attention::Row<double>& row, const RowProducts& products,
                  Visitor&& visit) const {
    for (std::size_t c = 0; c < products.times.size(); ++c)
      if (products.times[c] != 0)
        visit(attention::stored_score(on, call, row, pair_of(products, c)), c);
  }
};

/// E40. The maximum lies between the maxima of score - error and of score + error. Only the score
/// counts: other terms in the argument of exp are omitted.
void fill_max(const Scores& scores, const RowProducts& products, LiveRow& row) {
  const Arithmetic& n = scores.n;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = -infinity, exact = -infinity, high = -infinity, least = infinity;
  scores.visit_kept({}, products, [&](const PairNumber& score, std::size_t) {
    low = std::max(low, score.value - score.rigorous);
    exact = std::max(exact, score.value);
    high = std::max(high, score.value + score.rigorous);
    least = std::min(least, score.value);
    ++row.keys;
  });
  row.exact.max = exact;
  row.max_error = slack * (std::max(exact - low, high - exact) + n.u * std::abs(exact));
  const double largest = std::max(std::abs(exact), std::abs(least));
  row.rescaling =
      (row.keys - 1) * (n.eps_x + 4 * n.u + (n.numerics.fused ? 4 * n.u * largest : 0)) +
      n.u * (exact - least);
}

/// Returns the error of a weight exp(x) as an error of its argument x: that of x itself, and that
/// of exp.
double weight_error(const Arithmetic& n, const LiveRow& row, const PairNumber& score) {
  return score.rigorous + n.eps_x + row.rescaling;
}

/// E41.
void fill_sum(const Scores& scores, const RowProducts& products, LiveRow& row) {
  const Arithmetic& n = scores.n;
  row.exact.sum = 1;
  double sum = 0, error = 0;
  scores.visit_kept(row.exact, products, [&](const PairNumber& score, std::size_t) {
    const double weight = exact_probability(row.exact, score.value);
    sum += weight;
    error += weight * engine::growth(weight_error(n, row, score)) + n.store_p_error(2 * weight);
  });
  row.exact.sum = sum;
  const double all = static_cast<double>(products.times.size());
  row.sum_error = slack * (error / sum + all * n.phi + (row.keys + 4) * std::max(n.u, n.u_a));
  if (std::isnan(row.sum_error)) row.sum_error = std::numeric_limits<double>::infinity();
}

/// Four sums over the keys: of |V| times the error of P; of |V| times (P plus its error); of V
/// times P, with sign; of |V|.
struct OutputSums {
  std::vector<double> error, magnitude, signed_sum, plain;
};

OutputSums output_sums(const Scores& scores, const RowProducts& products, const LiveRow& row,
                       const spec::RowPosition& place) {
  const Arithmetic& n = scores.n;
  const Dense& dense = scores.dense;
  const std::int64_t dim = dense.problem.head_dim_v, kv = place.n / dense.problem.group();
  const std::vector<double> zeros(at(dim), 0.0);
  OutputSums result{zeros, zeros, zeros, zeros};
  const double divided = row.sum_error < 0.5 ? row.sum_error / (1 - row.sum_error)
                                             : std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    const double* value = dense.value(place.b, kv, static_cast<std::int64_t>(c));
    for (std::int64_t d = 0; d < dim; ++d) result.plain[at(d)] += std::abs(value[d]);
  }
  scores.visit_kept(row.exact, products, [&](const PairNumber& score, std::size_t c) {
    const double p = exact_probability(row.exact, score.value), kappa = products.kappa[c];
    const double rho = engine::growth(weight_error(n, row, score) + divided + 4 * n.u);
    const double dropped = kappa * p;
    const double e = kappa * (p * rho + n.store_p_error(2 * p)) + 3 * n.u * dropped;
    const double staged = e + n.stage_error(2 * (dropped + e));
    const double* value = dense.value(place.b, kv, static_cast<std::int64_t>(c));
    for (std::int64_t d = 0; d < dim; ++d) {
      result.error[at(d)] += staged * std::abs(value[d]);
      result.magnitude[at(d)] += (dropped + staged) * std::abs(value[d]);
      result.signed_sum[at(d)] += dropped * value[d];
    }
  });
  return result;
}

/// E42.
void fill_output(const Dense& dense, const Arithmetic& n, const OutputSums& sums,
                 const LiveRow& row, std::int64_t first, ForwardTolerances& result) {
  const double unit =
      (2 * row.keys + 6) * std::max(n.u, n.u_a) + 2 * n.u_x + unit_roundoff(n.numerics.partials);
  // If the relative error of the sum can reach one half, the output has no bound.
  if (!(row.sum_error < 0.5)) {
    for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d)
      result.before_cast[at(first + d)] = result.attention_in[at(first + d)] =
          std::numeric_limits<double>::infinity();
    return;
  }
  for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d) {
    const double before = slack * (sums.error[at(d)] + unit * sums.magnitude[at(d)] +
                                   dense.largest_kappa * n.phi * sums.plain[at(d)]);
    result.before_cast[at(first + d)] = before;
    result.attention_in[at(first + d)] =
        before + n.out_error(std::abs(sums.signed_sum[at(d)]) + before);
  }
}

}  // namespace

ForwardTolerances forward_tolerances(const Dense& dense, const Arithmetic& n) {
  const Op::Problem& p = dense.problem;
  const std::size_t rows = at(dense.queries.rows()), elements = rows * at(p.head_dim_v);
  ForwardTolerances result{.softmax_max = std::vector<double>(rows, 0.0),
                           .softmax_sum = std::vector<double>(rows, 0.0),
                           .attention_in = std::vector<double>(elements, 0.0),
                           .before_cast = std::vector<double>(elements, 0.0)};
  const Scores scores(dense, n);
  parallel::for_each(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    const Columns columns(dense, b, head / p.group(), ascending(0, p.length_kv(b)));
    RowProducts products;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      columns.multiply(head, i, products);
      if (!products.attends) continue;
      LiveRow row;
      fill_max(scores, products, row);
      fill_sum(scores, products, row);
      const std::int64_t number = dense.queries.row(b, head, i);
      result.softmax_max[at(number)] = row.max_error;
      result.softmax_sum[at(number)] = row.sum_error;
      const OutputSums sums = output_sums(scores, products, row, {b, head, i});
      fill_output(dense, n, sums, row, number * p.head_dim_v, result);
    }
  });
  return result;
}

}  // namespace assay::conformance::attention::flash
