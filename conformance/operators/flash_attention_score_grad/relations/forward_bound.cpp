#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/parallel/loop.hpp"
#include "attention/bound/pairs.hpp"

namespace assay::conformance::flash {
namespace {

/// Products of two errors, and the judge's own arithmetic.
constexpr double slack = 1 + 0x1p-10;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// One live row: its exact statistics, and the errors that all its results share.
struct LiveRow {
  RowTerms exact;
  double keys = 0;       ///< kept ones
  double max_error = 0;  ///< of softmax_max
  double rescaling = 0;  ///< relative error that growing maxima bring
  double sum_error = 0;  ///< relative, of softmax_sum
};

/// Calls visit(sums) for every kept key.
template <class Visitor>
void visit_kept(const Products& products, Visitor&& visit) {
  for (std::size_t c = 0; c < products.times.size(); ++c)
    if (products.times[c] != 0) visit(sums_of(products, c), c);
}

/// E40. The maximum lies between those of score - error and score + error. What the exponent needs
/// beside the score is left out.
void fill_max(const Dense& dense, const Arithmetic& n, const Products& products, LiveRow& row) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = -infinity, exact = -infinity, high = -infinity, least = infinity;
  visit_kept(products, [&](const PairSums& sums, std::size_t) {
    const ExponentError x = exponent_error(dense, n, RowTerms{}, sums);
    low = std::max(low, x.score - x.total);
    exact = std::max(exact, x.score);
    high = std::max(high, x.score + x.total);
    least = std::min(least, x.score);
    ++row.keys;
  });
  row.exact.softmax_max = exact;
  row.max_error = slack * (std::max(exact - low, high - exact) + n.u * std::abs(exact));
  const double largest = std::max(std::abs(exact), std::abs(least));
  row.rescaling =
      (row.keys - 1) * (n.eps_x + 4 * n.u + (n.numerics.fused ? 4 * n.u * largest : 0)) +
      n.u * (exact - least);
}

/// Error of the exponent and of its exponential, in the exponent.
double weight_error(const Dense& dense, const Arithmetic& n, const LiveRow& row,
                    const PairSums& sums) {
  return exponent_error(dense, n, row.exact, sums).total + n.eps_x + row.rescaling;
}

/// E41.
void fill_sum(const Dense& dense, const Arithmetic& n, const Products& products, LiveRow& row) {
  row.exact.softmax_sum = 1;
  double sum = 0, error = 0;
  visit_kept(products, [&](const PairSums& sums, std::size_t) {
    const double weight = probability(row.exact, dense.scale * sums.score + sums.bias);
    sum += weight;
    error += weight * growth(weight_error(dense, n, row, sums)) + n.store_p_error(2 * weight);
  });
  row.exact.softmax_sum = sum;
  const double all = static_cast<double>(products.times.size());
  row.sum_error = slack * (error / sum + all * n.phi + (row.keys + 4) * std::max(n.u, n.u_a));
  if (std::isnan(row.sum_error)) row.sum_error = std::numeric_limits<double>::infinity();
}

/// Sums of |V| over the keys: weighted by the errors of P, by P with its errors, and not at all.
struct OutputSums {
  std::vector<double> error, magnitude, signed_sum, plain;
};

OutputSums output_sums(const Dense& dense, const Arithmetic& n, const Products& products,
                       const LiveRow& row, const spec::RowPosition& place) {
  const std::int64_t dim = dense.problem.head_dim_v, kv = place.n / dense.problem.group();
  const std::vector<double> zeros(at(dim), 0.0);
  OutputSums result{zeros, zeros, zeros, zeros};
  const double divided = row.sum_error < 0.5 ? row.sum_error / (1 - row.sum_error)
                                             : std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    const double* value = dense.value(place.b, kv, static_cast<std::int64_t>(c));
    for (std::int64_t d = 0; d < dim; ++d) result.plain[at(d)] += std::abs(value[d]);
  }
  visit_kept(products, [&](const PairSums& sums, std::size_t c) {
    const double p = probability(row.exact, dense.scale * sums.score + sums.bias);
    const double rho = growth(weight_error(dense, n, row, sums) + divided + 4 * n.u);
    const double dropped = sums.kappa * p;
    const double e = sums.kappa * (p * rho + n.store_p_error(2 * p)) + 3 * n.u * dropped;
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
  // Where the sum itself may be off by half, nothing is known of the output.
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
  parallel::for_each(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    const Columns columns(dense, b, head / p.group(), ascending(0, p.length_kv(b)));
    Products products;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      columns.multiply(head, i, products);
      if (!products.attends) continue;
      LiveRow row;
      fill_max(dense, n, products, row);
      fill_sum(dense, n, products, row);
      const std::int64_t number = dense.queries.row(b, head, i);
      result.softmax_max[at(number)] = row.max_error;
      result.softmax_sum[at(number)] = row.sum_error;
      const OutputSums sums = output_sums(dense, n, products, row, {b, head, i});
      fill_output(dense, n, sums, row, number * p.head_dim_v, result);
    }
  });
  return result;
}

}  // namespace assay::conformance::flash
