#include "attention/bound/forward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

using engine::square;
using spec::at;

constexpr double infinity = std::numeric_limits<double>::infinity();

double probable(double lambda, const PairNumber& score, bool averages) {
  const double likely = lambda * std::sqrt(score.squares) + score.shared;
  return averages ? std::min(likely, score.rigorous) : score.rigorous;
}

/// Counts how often the running maximum grows when a loop reads the keys in ascending order, and
/// when it reads them in descending order.
class Growth {
 public:
  void add(double score) {
    ascending_ += score > largest_ ? 1 : 0;
    largest_ = std::max(largest_, score);
    while (!descending_.empty() && descending_.back() <= score) descending_.pop_back();
    descending_.push_back(score);
  }
  double most() const { return std::max(ascending_, static_cast<double>(descending_.size())); }

 private:
  double ascending_ = 0, largest_ = -infinity;
  std::vector<double> descending_;  ///< the maxima of a loop from the last key back
};

}  // namespace

std::optional<PairNumber> ForwardScores::sink_of(const RowProducts& products,
                                                 const Row<double>& row) const {
  if (dense_.sinks.empty()) return std::nullopt;
  return stored_sink(on_, of_statistics_, row, dense_.sinks[at(products.query.n)]);
}

/// Equations E40 and E48. Sets the limits of the row maximum: the maximum of score - error and the
/// maximum of score + error. Here `error` is the error of the score only; other terms in the
/// argument of exp are omitted.
void ForwardScores::fill_max(const RowProducts& products, double lambda, ForwardRow& row) const {
  double low = -infinity, exact = -infinity, high = -infinity, least = infinity;
  double likely_low = -infinity, likely_high = -infinity;
  Growth growth;
  const auto add = [&](const PairNumber& score, std::size_t, double times) {
    const double likely = probable(lambda, score, n_.mean_free);
    low = std::max(low, score.value - score.rigorous);
    exact = std::max(exact, score.value);
    high = std::max(high, score.value + score.rigorous);
    likely_low = std::max(likely_low, score.value - likely);
    likely_high = std::max(likely_high, score.value + likely);
    least = std::min(least, score.value);
    growth.add(score.value);
    row.keys += times;
  };
  if (const auto sink = sink_of(products, {})) {
    add(*sink, 0, 1);
    least = infinity;  // no weight of a key is ever relative to a sink below the keys
  }
  visit_keys(of_statistics_, {}, products, add);
  least = std::min(least, exact);
  row.max = exact;
  const auto error = [&](double below, double above) {
    return forward_slack * (std::max(exact - below, above - exact) + n_.u * std::abs(exact));
  };
  row.max_error = {error(low, high), error(likely_low, likely_high)};
  row.changes = row.keys - 1;
  // In any other loop order, the running maximum grows only a few more times, unless the order
  // depends on the scores.
  constexpr double spare = 16;
  row.likely_changes =
      std::min(row.changes, growth.most() + 4 * std::log(std::max(row.keys, 1.0)) + spare);
  const double largest = std::max(std::abs(exact), std::abs(least));
  const double of_change = n_.eps_x + 4 * n_.u + (n_.numerics.fused ? 4 * n_.u * largest : 0);
  row.rescaling = {row.changes * of_change + n_.u * (exact - least),
                   row.likely_changes * of_change + n_.u * (exact - least)};
}

/// E41, E48.
void ForwardScores::fill_sum(const RowProducts& products, double entries, double lambda,
                             ForwardRow& row) const {
  double sum = 0, error = 0, squares = 0, shared = 0;
  std::vector<double> scores;
  const auto add = [&](const PairNumber& score, std::size_t, double times) {
    const double weight = times * exact_probability({row.max, 1, 0}, score.value);
    const double rho = engine::growth(weight_error(row, score));
    const double stored = times * n_.store_p_error(2 * weight / times);
    sum += weight;
    error += weight * rho + stored;
    squares += square(weight) * score.squares + square(stored);
    shared += weight * (score.shared + n_.eps_x + row.rescaling.probable + square(rho));
    scores.push_back(score.value);
  };
  visit_keys(of_statistics_, {row.max, 1, 0}, products, add);
  const auto sink = sink_of(products, {row.max, 1, 0});
  // If the sink is far below the maximum, its weight and the error of this weight are too small to
  // matter.
  if (sink && engine::growth_at(sink->value - row.max, weight_error(row, *sink)) > 0) {
    add(*sink, 0, 1);
    scores.pop_back();  // the output has no weight for it
  }
  row.sum = sum;
  fill_alike(scores, row);
  const double unit = std::max(n_.u, n_.u_a), worst = engine::worst_chain(row.keys);
  const bool averages = n_.mean_free && !n_.truncating_sums;
  const double chain = averages ? engine::probable_chain(worst, row.keys, lambda) : worst;
  const double residues = entries * n_.phi;
  row.sum_error.proven = forward_slack * (error / sum + residues + worst * unit);
  const double likely = lambda * std::sqrt(row.alike * squares) + shared;
  const double core = engine::core_error(error, likely, n_.mean_free);
  row.sum_error.probable = forward_slack * (core / sum + residues + chain * unit);
  for (double* limit : {&row.sum_error.proven, &row.sum_error.probable})
    if (std::isnan(*limit)) *limit = infinity;
}

/// Equation E48. Counts weights that are almost equal. If two weights differ by much less than the
/// distance between two numbers of the 16-bit type, the kernel may round both in the same
/// direction.
void ForwardScores::fill_alike(std::vector<double>& scores, ForwardRow& row) const {
  constexpr double part_of_step = 0x1p-5;
  const double step =
      2 * std::max(unit_roundoff(n_.numerics.stage), unit_roundoff(n_.numerics.store_p));
  const double width = part_of_step * step;
  std::ranges::sort(scores, std::greater());
  double groups = 0, singles = 0;
  for (std::size_t first = 0, last = 0; first < scores.size();) {
    last = std::max(last, first);
    double weight = 0;
    while (last < scores.size() && scores[first] - scores[last] <= width) {
      const double w = engine::exponential(scores[last] - row.max);
      weight += w;
      singles += w * w;
      ++last;
    }
    groups += weight * weight;
    row.alike = std::max(row.alike, static_cast<double>(last - first));
    first = last;
  }
  constexpr double mostly = 1.5;
  row.varies = groups <= mostly * singles;
}

ForwardRow ForwardScores::row(const RowProducts& products, double entries, double lambda) const {
  ForwardRow row;
  fill_max(products, lambda, row);
  fill_sum(products, entries, lambda, row);
  return row;
}

std::vector<ForwardRow> forward_rows(const Dense& dense, const Arithmetic& n,
                                     const std::vector<std::int64_t>& rows) {
  const std::int64_t group = dense.problem.group();
  std::vector<ForwardRow> all(rows.size());
  const ForwardScores scores(dense, n);
  const double lambda = azuma_factor(std::max<std::int64_t>(1, std::ssize(rows)) *
                                     std::max<std::int64_t>(1, dense.problem.seq_kv));
  const auto make = [&](std::int64_t b, std::int64_t head) {
    const std::int64_t begin = dense.queries.row(b, head, 0);
    const auto first = std::ranges::lower_bound(rows, begin);
    const auto last = std::lower_bound(first, rows.end(), begin + dense.queries.length(b));
    const std::span<const std::int64_t> own(first, last);
    if (own.empty()) return;
    const auto entries = static_cast<double>(dense.key_pattern->entries_of_query(b));
    auto place = first - rows.begin();
    RowProducts products;
    std::size_t next = 0;
    for (const RowBlock& block : row_blocks_of(dense, own)) {
      const Columns columns(dense, b, head / group, block.keys);
      for (const std::size_t end = next + block.rows; next < end; ++next, ++place) {
        columns.multiply(head, dense.queries.position(own[next]).s, products);
        if (products.attends || !dense.sinks.empty())
          all[at(place)] = scores.row(products, entries, lambda);
        else
          all[at(place)].sum = 0;
      }
    }
  };
  dense.each_chunk([&](std::int64_t first, std::int64_t last) {
    parallel::for_each((last - first) * group, [&](std::int64_t k) {
      const std::int64_t head = first * group + k, heads = dense.problem.heads_q;
      make(head / heads, head % heads);
    });
  });
  return all;
}

}  // namespace assay::conformance::attention
