#include "attention/bound/row_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/parallel/loop.hpp"

namespace assay::conformance::flash {
namespace {

/// E9. Row term and its error from attention_in as given.
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
  row.omega_rig = dot_error(magnitude, dim, u);
  row.omega_ind = free_dot_error(magnitude, dim, u);
  row.omega_com = 2 * u * std::abs(row.delta);
}

/// E10. Error of statistics that the kernel computes itself over `entries` keys; returns the sum of
/// the probabilities.
double own_statistics(const Dense& dense, const Arithmetic& n, const Products& products,
                      double entries, RowTerms& row) {
  double sum = 0, grown = 0, independent = 0, common = 0;
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    if (products.times[c] == 0) continue;
    const ExponentError x = exponent_error(dense, n, row, sums_of(products, c));
    const double p = products.times[c] * probability(row, x.score);
    sum += p;
    grown += p * std::exp(x.total);
    independent += p * p * (x.v2 + square(x.h_s));
    common += p * x.coherent;
  }
  if (n.numerics.stats == spec::Origin::own) {
    const double fixed = std::abs(std::log(sum)) + (entries + 4) * n.u + n.eps_x;
    row.zeta_rig = std::abs(std::log(grown / sum)) + fixed;
    row.zeta_ind = std::sqrt(independent);
    row.zeta_com = common + fixed;
  }
  return sum;
}

/// E11. Row term sum_j P dP of the kernel's own over `keys` keys, and its error.
void own_delta(const Dense& dense, const Arithmetic& n, const Products& products, double keys,
               RowTerms& row) {
  const double dim = static_cast<double>(dense.problem.head_dim_v);
  row.delta = 0;
  for (std::size_t c = 0; c < products.times.size(); ++c)
    if (products.times[c] != 0)
      row.delta += products.times[c] *
                   probability(row, dense.scale * products.score[c] + products.bias[c]) *
                   products.dprob[c];
  double rigorous = 0, independent = 0, common = 0;
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    if (products.times[c] == 0) continue;
    const PairSums sums = sums_of(products, c);
    const auto [x, dp, p, rho, h_p, e_p, coherent] = staged_probability(dense, n, row, sums);
    const double magnitude = std::abs(sums.dprob), times = products.times[c];
    // An error common to a row's P leaves sum_j P (dP - delta) alone only where the kernel
    // normalises P itself.
    const double t =
        n.numerics.stats == spec::Origin::own ? std::abs(sums.dprob - row.delta) : magnitude;
    rigorous += times * (e_p * magnitude + (p + e_p) * dp.total +
                         (keys + 4) * n.u * (p + e_p) * (magnitude + dp.total));
    independent += times * times *
                   (square(p * t) * (x.v2 + square(x.h_s)) + square(sums.dprob * h_p) +
                    p * p * (square(dp.h_dp) + square(sums.dprob_abs * std::sqrt(dim) * n.u_a)));
    common += times * (p * t * coherent + e_p * dp.total +
                       p * sums.dprob_abs * (n.u_k + 2 * n.u_x) + (keys + 6) * n.u * p * magnitude);
  }
  row.omega_rig = rigorous;
  row.omega_ind = std::sqrt(independent);
  row.omega_com = common;
}

/// Whether attention_in is the rounded output of the forward that the statistics belong to.
bool output_belongs(const Dense& dense, const spec::RowPosition& query, const Columns& columns,
                    const Products& products, const RowTerms& row) {
  const auto& [b, n, i] = query;
  const std::int64_t kv = n / dense.problem.group();
  std::vector<double> output(static_cast<std::size_t>(dense.problem.head_dim_v), 0.0);
  for (std::size_t c = 0; c < products.times.size(); ++c)
    if (products.times[c] != 0)
      add_scaled(products.times[c] * products.kappa[c] *
                     probability(row, dense.scale * products.score[c] + products.bias[c]),
                 dense.value(b, kv, columns.key(static_cast<std::int64_t>(c))),
                 dense.problem.head_dim_v, output.data());
  const spec::FloatFormat format = spec::format_of(dense.problem.dtype);
  const double* given = dense.attention_in(b, n, i);
  for (std::size_t d = 0; d < output.size(); ++d) {
    const double ulp = std::max(std::ldexp(1.0, 1 - format.significand_bits) * std::abs(output[d]),
                                std::ldexp(1.0, format.min_exponent + 1 - format.significand_bits));
    if (std::abs(output[d] - given[d]) > ulp) return false;
  }
  return true;
}

/// Adds the errors of what the kernel computes itself to the rows of one head. Whether statistics
/// and attention_in belong to the data.
bool own_terms(const Dense& dense, const Arithmetic& n, std::int64_t b, std::int64_t head,
               AllRowTerms& all) {
  const std::int64_t first = dense.queries.row(b, head, 0);
  const std::vector<std::int64_t> rows = ascending(first, first + dense.queries.length(b));
  const auto entries = static_cast<double>(dense.key_pattern->entries_of_query(b));
  bool consistent = true;
  Products products;
  std::size_t next = 0;
  for (const Window& window : windows_of(dense, rows)) {
    const Columns columns(dense, b, head / dense.problem.group(), window.keys);
    for (const std::size_t end = next + window.rows; next < end; ++next) {
      const spec::RowPosition query = dense.queries.position(rows[next]);
      RowTerms& row = all.rows[static_cast<std::size_t>(rows[next])];
      if (!row.live) continue;
      columns.multiply(head, query.s, products);
      if (!products.attends) continue;
      const double sum = own_statistics(dense, n, products, entries, row);
      consistent &=
          std::abs(sum - 1) <= 0x1p-18 && output_belongs(dense, query, columns, products, row);
      if (n.numerics.delta == spec::Origin::own) own_delta(dense, n, products, entries, row);
    }
  }
  return consistent;
}

}  // namespace

AllRowTerms row_terms(const Dense& dense, const Arithmetic& n) {
  const Op::Problem& p = dense.problem;
  AllRowTerms all;
  all.rows.resize(static_cast<std::size_t>(dense.queries.rows()));
  std::vector<std::uint8_t> inconsistent(static_cast<std::size_t>(p.batch * p.heads_q), 0);
  const bool own = n.numerics.stats == spec::Origin::own || n.numerics.delta == spec::Origin::own;
  const auto make = [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const std::int64_t number = dense.queries.row(b, head, i);
      RowTerms& row = all.rows[static_cast<std::size_t>(number)];
      row.softmax_max = dense.softmax_max(number);
      row.softmax_sum = dense.softmax_sum(number);
      row.live = row.softmax_max != -static_cast<double>(std::numeric_limits<float>::max()) &&
                 p.length_kv(b) > 0;
      given_delta(dense, b, head, i, n.u, row);
    }
    if (own && !own_terms(dense, n, b, head, all)) inconsistent[static_cast<std::size_t>(task)] = 1;
  };
  dense.each_chunk([&](std::int64_t first, std::int64_t last) {
    const std::int64_t group = p.group();
    parallel::for_each((last - first) * group, [&](std::int64_t k) { make(first * group + k); });
  });
  all.consistent = std::count(inconsistent.begin(), inconsistent.end(), 1) == 0;
  return all;
}

}  // namespace assay::conformance::flash
