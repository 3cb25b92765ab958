#include "attention/bound/forward.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/formula/rows.hpp"
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

/// Calls read(CompiledFor<...>()) for the fastest instruction set of this machine.
template <class Read>
void with_fastest(const Read& read) {
  engine::read_with(engine::Instructions::fastest, read);
}

}  // namespace

/// Arrays with one number per key of a row: `padded_keys` numbers, none for a row without keys. The
/// numbers of keys that do not occur have no meaning.
class ForwardScores::RowArrays {
 public:
  explicit RowArrays(const RowProducts& products)
      : keys_(products.attends ? padded_keys(products.times.size()) : 0),
        numbers_(std::make_unique_for_overwrite<double[]>(arrays * keys_)) {
    if (keys_ > 0) std::fill(std::ranges::copy(products.times, times()).out, times() + keys_, 0.0);
  }
  std::size_t keys() const { return keys_; }
  double* times() const { return array(0); }
  double* weights() const { return array(1); }
  double* growth() const { return array(2); }
  ScoreArrays scores() const { return {array(3), array(4), array(5), array(6)}; }

 private:
  static constexpr std::size_t arrays = 7;
  double* array(std::size_t k) const { return numbers_.get() + k * keys_; }

  std::size_t keys_;
  std::unique_ptr<double[]> numbers_;
};

void ForwardScores::read(const RowProducts& products, const Row<double>& row,
                         const RowArrays& to) const {
  const ScoreArrays scores = to.scores();
  if (variant_ == nullptr) {
    with_fastest([&](auto compiled) {
      read_scores(compiled, of_statistics_, row, to.keys(),
                  {products.score.data(), products.score_abs.data(), products.score_sq.data(),
                   products.bias.data()},
                  scores);
    });
    return;
  }
  visit_keys(of_statistics_, row, products, [&](const PairNumber& score, std::size_t c, double) {
    scores.value[c] = score.value, scores.rigorous[c] = score.rigorous;
    scores.squares[c] = score.squares, scores.shared[c] = score.shared;
  });
}

/// Returns how often the running maximum of a loop over the keys grows: of a loop from the first
/// key to the last, or of one from the last to the first, whichever grows more often. `sink`: the
/// score of the row's sink, which stands before the first key; -infinity if there is none.
double ForwardScores::growths(const RowArrays& row, double sink) {
  const double *score = row.scores().value, *times = row.times();
  const auto grows = [](double x, double& largest) {
    if (!(x > largest)) return 0;
    largest = x;
    return 1;
  };
  double largest_before = -infinity, largest_after = -infinity;
  int ascending = grows(sink, largest_before), descending = 0;
  for (std::size_t c = 0; c < row.keys(); ++c)
    if (times[c] != 0) ascending += grows(score[c], largest_before);
  for (std::size_t c = row.keys(); c-- > 0;)
    if (times[c] != 0) descending += grows(score[c], largest_after);
  descending += grows(sink, largest_after);
  return std::max(ascending, descending);
}

std::optional<PairNumber> ForwardScores::sink_of(const RowProducts& products,
                                                 const Row<double>& row) const {
  if (dense_.sinks.empty()) return std::nullopt;
  return stored_sink(on_, of_statistics_, row, dense_.sinks[at(products.query.n)]);
}

/// Equations E40 and E48. Sets the limits of the row maximum: the maximum of score - error and the
/// maximum of score + error. Here `error` is the error of the score only; other terms in the
/// argument of exp are omitted.
void ForwardScores::fill_max(const RowProducts& products, double lambda, const RowArrays& arrays,
                             ForwardRow& row) const {
  read(products, {}, arrays);
  ScoreLimits limits;
  row.keys = std::accumulate(products.times.begin(), products.times.end(), 0.0);
  double of_sink = -infinity;
  if (const auto sink = sink_of(products, {})) {
    of_sink = sink->value;
    limits.add(sink->value, sink->rigorous, probable(lambda, *sink, n_.mean_free));
    limits.least = infinity;  // no weight of a key is ever relative to a sink below the keys
    row.keys += 1;
  }
  with_fastest([&](auto compiled) {
    limit_scores(compiled, arrays.keys(), arrays.times(), arrays.scores(),
                 n_.mean_free ? lambda : -1, limits);
  });
  const double exact = limits.exact, least = std::min(limits.least, exact);
  row.max = exact;
  const auto error = [&](double below, double above) {
    return forward_slack * (std::max(exact - below, above - exact) + n_.u * std::abs(exact));
  };
  row.max_error = {error(limits.low, limits.high), error(limits.likely_low, limits.likely_high)};
  row.changes = row.keys - 1;
  // In any other loop order, the running maximum grows only a few more times, unless the order
  // depends on the scores.
  constexpr double spare = 16;
  row.likely_changes = std::min(
      row.changes, growths(arrays, of_sink) + 4 * std::log(std::max(row.keys, 1.0)) + spare);
  const double largest = std::max(std::abs(exact), std::abs(least));
  const double of_change = n_.eps_x + 4 * n_.u + (n_.numerics.fused ? 4 * n_.u * largest : 0);
  row.rescaling = {row.changes * of_change + n_.u * (exact - least),
                   row.likely_changes * of_change + n_.u * (exact - least)};
}

/// E41, E48.
void ForwardScores::fill_sum(const RowProducts& products, double entries, double lambda,
                             const RowArrays& arrays, ForwardRow& row) const {
  const Row<double> of_row = {row.max, 1, 0};
  read(products, of_row, arrays);
  const ScoreArrays scores = arrays.scores();
  with_fastest([&](auto compiled) {
    read_weights(compiled, arrays.keys(), scores, row.max,
                 {.of_exp = n_.eps_x, .of_rescaling = row.rescaling.proven}, arrays.weights(),
                 arrays.growth());
  });
  double sum = 0, error = 0, squares = 0, shared = 0;
  const auto add = [&](double times, double unit_weight, double rho, double of_squares,
                       double of_shared) {
    const double weight = times * unit_weight;
    const double stored = times * n_.store_p_error(2 * weight / times);
    sum += weight;
    error += weight * rho + stored;
    squares += square(weight) * of_squares + square(stored);
    shared += weight * (of_shared + n_.eps_x + row.rescaling.probable + square(rho));
  };
  std::vector<double> values;
  values.reserve(arrays.keys());
  for (std::size_t c = 0; c < arrays.keys(); ++c) {
    const double times = arrays.times()[c];
    if (times == 0) continue;
    add(times, arrays.weights()[c], arrays.growth()[c], scores.squares[c], scores.shared[c]);
    values.push_back(scores.value[c]);
  }
  const auto sink = sink_of(products, of_row);
  // If the sink is far below the maximum, its weight and the error of this weight are too small to
  // matter.
  if (sink && engine::growth_at(sink->value - row.max, weight_error(row, *sink)) > 0)
    add(1, exact_probability(of_row, sink->value), engine::growth(weight_error(row, *sink)),
        sink->squares, sink->shared);
  row.sum = sum;
  fill_alike(values, row);
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
  boost::sort::pdqsort_branchless(scores.begin(), scores.end(), std::greater());
  std::vector<double> weights = scores;
  weights.resize(padded_keys(scores.size()));
  with_fastest(
      [&](auto compiled) { exponentiate(compiled, weights.size(), row.max, weights.data()); });
  double groups = 0, singles = 0;
  for (std::size_t first = 0, last = 0; first < scores.size();) {
    last = std::max(last, first);
    double weight = 0;
    while (last < scores.size() && scores[first] - scores[last] <= width) {
      const double w = weights[last];
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
  const RowArrays arrays(products);
  fill_max(products, lambda, arrays, row);
  fill_sum(products, entries, lambda, arrays, row);
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
  const std::int64_t heads = dense.problem.heads_q;
  parallel::for_each(dense.problem.batch * heads,
                     [&](std::int64_t head) { make(head / heads, head % heads); });
  return all;
}

}  // namespace assay::conformance::attention
