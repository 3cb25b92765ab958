#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/bound/forward.hpp"
#include "attention/lse.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::at;

/// Four sums over the keys of a row. error: |V| times the error of P; magnitude: |V| times (P plus
/// its error); signed_sum: V times P; plain: |V|.
struct OutputSums {
  std::vector<double> error, magnitude, signed_sum, plain;
};

OutputSums output_sums(const Dense& dense, const Arithmetic& n, const ForwardScores& scores,
                       const RowProducts& products, const ForwardRow& row,
                       const spec::RowPosition& place) {
  const std::int64_t dim = dense.problem.head_dim_v, kv = place.n / dense.problem.group();
  const std::vector<double> zeros(at(dim), 0.0);
  OutputSums result{zeros, zeros, zeros, zeros};
  const double error = row.sum_error.proven;
  const double divided =
      error < 0.5 ? error / (1 - error) : std::numeric_limits<double>::infinity();
  const attention::Row<double> exact = {row.max, row.sum, 0};
  attention::FloatRow value(dim);
  const auto read_value = [&](std::size_t c) {
    dense.value_rows.read({place.b, kv, static_cast<std::int64_t>(c)}, value.data());
  };
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    read_value(c);
    for (std::int64_t d = 0; d < dim; ++d) result.plain[at(d)] += std::abs(value[d]);
  }
  scores.visit(exact, products, [&](const PairNumber& score, std::size_t c, double) {
    const double p = exact_probability(exact, score.value), kappa = products.kappa[c];
    const double rho = engine::growth(scores.weight_error(row, score) + divided + 4 * n.u);
    const double dropped = kappa * p;
    const double e = kappa * (p * rho + n.store_p_error(2 * p)) + 3 * n.u * dropped;
    // A kernel may round P before or after dropout.
    const double before = kappa > 1 ? kappa * n.stage_error(2 * (dropped + e) / kappa) : 0;
    const double staged = e + std::max(n.stage_error(2 * (dropped + e)), before);
    read_value(c);
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
                 const ForwardRow& row, std::int64_t first, ForwardTolerances& result) {
  const double unit =
      (2 * row.keys + 6) * std::max(n.u, n.u_a) + 2 * n.u_x + unit_roundoff(n.numerics.partials);
  // The output has no bound if the relative error of the softmax sum can reach one half.
  if (!(row.sum_error.proven < 0.5)) {
    for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d)
      result.before_cast[at(first + d)] = result.attention_in[at(first + d)] =
          std::numeric_limits<double>::infinity();
    return;
  }
  for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d) {
    const double before = forward_slack * (sums.error[at(d)] + unit * sums.magnitude[at(d)] +
                                           dense.largest_kappa * n.phi * sums.plain[at(d)]);
    result.before_cast[at(first + d)] = before;
    result.attention_in[at(first + d)] =
        before + n.out_error(std::abs(sums.signed_sum[at(d)]) + before);
  }
}

}  // namespace

ForwardTolerances forward_tolerances(const Dense& dense, const Arithmetic& n) {
  constexpr double no_factor = 0;  // only proven limits are used
  const Op::Problem& p = dense.problem;
  const std::size_t rows = at(dense.queries.rows()), elements = rows * at(p.head_dim_v);
  ForwardTolerances result{.softmax_max = std::vector<double>(rows, 0.0),
                           .softmax_sum = std::vector<double>(rows, 0.0),
                           .log_sum_exp = std::vector<double>(rows, 0.0),
                           .attention_in = std::vector<double>(elements, 0.0),
                           .before_cast = std::vector<double>(elements, 0.0)};
  const ForwardScores scores(dense, n);
  parallel::for_each(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    const Columns columns(dense, b, head / p.group(), ascending(0, p.length_kv(b)));
    RowProducts products;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      columns.multiply(head, i, products);
      if (!products.attends) continue;
      const ForwardRow row =
          scores.row(products, static_cast<double>(products.times.size()), no_factor);
      const std::int64_t number = dense.queries.row(b, head, i);
      result.softmax_max[at(number)] = row.max_error.proven;
      result.softmax_sum[at(number)] = row.sum_error.proven;
      result.log_sum_exp[at(number)] = lse_error(row, n).proven;
      const OutputSums sums = output_sums(dense, n, scores, products, row, {b, head, i});
      fill_output(dense, n, sums, row, number * p.head_dim_v, result);
    }
  });
  return result;
}

}  // namespace assay::conformance::attention::flash
