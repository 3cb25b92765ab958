#include "attention/bound/row_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/formula/variant.hpp"
#include "attention/lse.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention {
namespace {

/// Equation E9. Computes the row term (the sum of dy times attention_in) and its error from the
/// given attention_in. A kernel sums the row term in fp32, even if its matrix products have another
/// accumulator.
void given_delta(const attention::Call& call, const FloatRow& dy, const std::vector<double>& output,
                 RowTerms& row) {
  engine::Products<double> of;
  for (std::size_t d = 0; d < output.size(); ++d) {
    of.sum += dy[d] * output[d];
    of.magnitudes += std::abs(dy[d] * output[d]);
  }
  const engine::Units units = {.u = call.units.u, .u_sum = call.units.u};
  const engine::ToleranceReading<double, 0> on(units, {});
  const auto delta = attention::row_term(on, call, of);
  row.delta = delta.value;
  row.delta_error = engine::symbol_of(delta);
  // Replaces the worst-case error of rule A4 (engine/README.md), which contains two roundings of
  // the sum. These two roundings are counted in the member `shared` instead.
  row.delta_error.rigorous = of.magnitudes * engine::worst_dot(units, call.dim_v);
}

using spec::at;

/// Handles a loss that also depends on the LSE (log-sum-exp): subtracts dlse, the gradient of the
/// LSE, from the row term delta. A kernel may subtract dlse from delta, or add it to dP - delta. In
/// both cases the two roundings are at most 2 u (|delta| + |dlse|), where u is the rounding unit.
void subtract_dlse(double dlse, double u, RowTerms& row) {
  if (dlse == 0) return;
  const double error = 2 * u * (std::abs(row.delta) + std::abs(dlse));
  row.delta -= dlse;
  row.delta_error.rigorous += error;
  row.delta_error.shared += error;
}

attention::Row<double> row_of(const RowTerms& row) { return {row.max, row.sum, row.delta}; }

/// Computes statistics and row term of one row as a kernel computes them itself. `keys`: the number
/// of keys that the kernel processes.
class OwnRow {
 public:
  OwnRow(const attention::Call& call, const Arithmetic& n, const RowProducts& products,
         const Variant* variant, double keys)
      : call_(call),
        products_(products),
        n_(n),
        variant_(variant),
        keys_(keys),
        u_(n.u),
        has_own_statistics_(n.numerics.stats == spec::Origin::own) {}

  /// Equation E10. Adds the error of the kernel's own statistics to the error of the maximum.
  /// Returns the sum of the probabilities.
  /// `sink`: the probability of the row's sink, or 0.
  double statistics(RowTerms& row, double sink) const {
    PairReading on(call_.units, {});
    double sum = sink, generated = sink, squares = 0, shared = 0;
    visit([&](std::size_t c, double times) {
      const PairNumber s = score(on, row, c);
      const double p = times * exact_probability(row_of(row), s.value);
      sum += p;
      // An error of x does not matter if e^x stays below the smallest normal number.
      generated +=
          engine::growth_at(s.value - row.max, s.rigorous) == 0 ? p : p * std::exp(s.rigorous);
      squares += p * p * s.squares;
      shared += p * s.shared;
    });
    if (!has_own_statistics_) return sum;
    double fixed = std::abs(std::log(sum)) + (keys_ + 4) * u_ + call_.exp_error;
    // With saves=lse the backward reads one rounded number, the LSE, instead of m (the row maximum)
    // and z (the row sum).
    if (saves_lse(n_.numerics))
      fixed += saving_error(std::abs(row.max), std::abs(std::log(row.sum)), n_);
    row.max_error = {std::abs(std::log(generated / sum)) + fixed, std::sqrt(squares),
                     shared + fixed};
    return sum;
  }

  /// Equation E11. Computes the row term sum_j P dP as the kernel computes it, and its error.
  /// `output`: the result of the kernel's own forward pass, or empty. If it is given, the row term
  /// is dy . output, and the rounding errors of that forward pass are added.
  void row_term(RowTerms& row, const Arithmetic& n, const FloatRow& dy,
                const std::vector<double>& output) const {
    PairReading on(call_.units, {engine::Symbol{}, row.max_error});
    engine::Tolerance<double, 0> delta;
    std::vector<Terms> all;
    all.reserve(products_.times.size());
    visit([&](std::size_t c, double times) {
      all.push_back(terms(on, row, c, times));
      delta.value += times * all.back().product.value;
    });
    for (const auto& [times, s, p, dp, product] : all) {
      const double size = std::abs(dp.value), added = (keys_ + 4) * u_;
      // All P of a row may share an error, for example the error of the softmax sum z. Such an
      // error cancels in sum_j P (dP - delta) only if the kernel normalises P itself.
      const double t = has_own_statistics_ ? std::abs(dp.value - delta.value) : size;
      delta.rigorous += times * (product.rigorous + added * on.magnitude(p) * on.magnitude(dp));
      delta.squares += times * times *
                       (product.squares + engine::square(p.value) * s.squares *
                                              (engine::square(t) - engine::square(size)));
      delta.shared += times * (product.shared + (t - size) * (p.shared - call_.floor) +
                               (added + 2 * u_) * p.value * size);
    }
    delta.squares = std::max(delta.squares, 0.0);
    if (!output.empty()) add_roundings_of_output(all, n, dy, output, delta);
    row.delta = delta.value;
    row.delta_error = engine::symbol_of(delta);
  }

 private:
  struct Terms {
    double times;
    PairNumber score, prob, dprob, product;
  };
  PairNumber score(const PairReading& on, const RowTerms& row, std::size_t c) const {
    return stored_score_of(on, call_, row_of(row), products_, c, variant_);
  }
  Terms terms(const PairReading& on, const RowTerms& row, std::size_t c, double times) const {
    const attention::Pair<double> pair = pair_of(products_, c);
    const PairNumber s = score(on, row, c);
    const PairNumber p = attention::probability(on, call_, row_of(row), s);
    const PairNumber dp = on.stored(attention::dprob(on, call_, pair), call_.dprob);
    return {times, s, p, dp, p * dp};
  }
  /// Equation E11a. Adds the rounding errors of the forward pass: the rounding of P to 16 bits, the
  /// cast of the output, and the sums.
  void add_roundings_of_output(const std::vector<Terms>& all, const Arithmetic& n,
                               const FloatRow& dy, const std::vector<double>& output,
                               engine::Tolerance<double, 0>& delta) const {
    const auto add = [&](double times, double error) {
      delta.rigorous += times * error;
      delta.squares += times * times * engine::square(error);
    };
    double magnitudes = 0;
    std::size_t next = 0;
    visit([&](std::size_t c, double times) {
      const Terms& of = all[next++];
      add(times, n.stage_error(of.prob.value) * std::abs(of.dprob.value));
      magnitudes += times * of.prob.value * products_.dprob_abs[c];
    });
    for (std::size_t d = 0; d < output.size(); ++d)
      add(1, n.out_error(std::abs(output[d])) * std::abs(dy[d]));
    const double added = (keys_ + static_cast<double>(output.size()) + 4) * u_ * magnitudes;
    delta.rigorous += added;
    delta.shared += added;
  }
  template <class Visit>
  void visit(const Visit& visit_key) const {
    for (std::size_t c = 0; c < products_.times.size(); ++c)
      if (products_.times[c] != 0) visit_key(c, static_cast<double>(products_.times[c]));
  }

  const attention::Call& call_;
  const RowProducts& products_;
  const Arithmetic& n_;
  const Variant* variant_;
  double keys_, u_;
  bool has_own_statistics_;
};

/// Computes one output row of the forward pass, from the given statistics of the row.
std::vector<double> output_of(const Dense& dense, const Variant* variant,
                              const RowProducts& products, const RowTerms& row) {
  const auto& [b, n, i] = products.query;
  const std::int64_t kv = n / dense.problem.group();
  std::vector<double> output(static_cast<std::size_t>(dense.problem.head_dim_v), 0.0);
  FloatRow value(dense.problem.head_dim_v);
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    if (products.times[c] == 0) continue;
    const double score = exact_score_of(dense, products, c, variant);
    dense.value_rows.read({b, kv, products.keys[c]}, value.data());
    add_scaled(products.times[c] * products.kappa[c] * exact_probability(row_of(row), score),
               value.data(), dense.problem.head_dim_v, output.data());
  }
  return output;
}

/// Returns whether attention_in of the row equals `output`, up to rounding.
bool output_belongs(const Dense& dense, const spec::RowPosition& query,
                    const std::vector<double>& output) {
  const auto& [b, n, i] = query;
  const spec::FloatFormat format = spec::format_of(dense.problem.dtype);
  const std::vector<double> given = dense.attention_in(b, n, i);
  for (std::size_t d = 0; d < output.size(); ++d) {
    const double ulp = std::max(std::ldexp(1.0, 1 - format.significand_bits) * std::abs(output[d]),
                                std::ldexp(1.0, format.min_exponent + 1 - format.significand_bits));
    if (std::abs(output[d] - given[d]) > ulp) return false;
  }
  return true;
}

/// Adds the errors of statistics and row term for every row of one head, if the kernel computes
/// these itself. Returns whether the given statistics and attention_in match the other inputs.
bool own_terms(const Dense& dense, const Arithmetic& n, std::int64_t b, std::int64_t head,
               AllRowTerms& all) {
  const attention::Call call = call_of(dense, n);
  const auto entries = static_cast<double>(dense.key_pattern->entries_of_query(b));
  const Variant* variant = score_variant_of(dense);
  bool consistent = true;
  each_row_of_head(dense, b, head, [&](std::int64_t number, const RowProducts& products) {
    RowTerms& row = all.rows[at(number)];
    if (!row.live) return;
    const spec::RowPosition& query = products.query;
    const OwnRow own(call, n, products, variant, entries);
    const std::vector<double> output = output_of(dense, variant, products, row);
    const double sink =
        dense.sinks.empty() ? 0 : exact_probability(row_of(row), dense.sinks[at(head)]);
    const double sum = own.statistics(row, sink);
    consistent &= std::abs(sum - 1) <= 0x1p-18 && output_belongs(dense, query, output);
    if (n.numerics.delta == spec::RowTerm::given) return;
    const bool of_output = n.numerics.delta == spec::RowTerm::own_output;
    own.row_term(row, n, dense.dy(query.b, query.n, query.s),
                 of_output ? output : std::vector<double>{});
  });
  return consistent;
}

}  // namespace

attention::Pair<double> pair_of(const RowProducts& products, std::size_t c) {
  // The dP products already contain the factor kappa (1 / keep_prob, the dropout scale).
  return {{products.score[c], products.score_abs[c], products.score_sq[c]},
          {products.dprob[c], products.dprob_abs[c], products.dprob_sq[c]},
          1,
          products.bias[c]};
}

namespace {

reference::ScorePosition position_of(const RowProducts& products, std::size_t c) {
  return {products.query.b, products.query.n, products.query.s, products.keys[c]};
}

}  // namespace

PairNumber stored_score_of(const PairReading& on, const Call& call, const Row<double>& row,
                           const RowProducts& products, std::size_t c, const Variant* variant) {
  const Pair<double> pair = pair_of(products, c);
  if (variant == nullptr) return stored_score(on, call, row, pair);
  engine::expression::Deviations<double> deviations(rounding_of(call));
  const auto at = variant->places(0.0, position_of(products, c));
  auto [score, slope, ties] = variant_score(on, call, row, pair, *variant, at, deviations);
  if (ties != 0) score.rigorous = score.additive = score.shared = HUGE_VAL;
  return score;
}

double exact_score_of(const Dense& dense, const RowProducts& products, std::size_t c,
                      const Variant* variant) {
  const double score = dense.scale * products.score[c] + products.bias[c];
  return variant == nullptr ? score : variant->score_of(score, position_of(products, c));
}

double exact_probability(const attention::Row<double>& row, double score) {
  return engine::exponential(score - row.max) / row.sum;
}

PairNumber stored_sink(const PairReading& on, const Call& call, const Row<double>& row,
                       double sink) {
  return on.stored(rounded_score(on, call, row, on.exact(sink), 0.0), call.score);
}

PairNumber sink_probability(const PairReading& on, const Call& call, const Row<double>& row,
                            double sink) {
  return probability(on, call, row, stored_sink(on, call, row, sink));
}

AllRowTerms row_terms(const Dense& dense, const Arithmetic& n) {
  const Op::Problem& p = dense.problem;
  const attention::Call call = call_of(dense, n);
  AllRowTerms all;
  all.rows.resize(static_cast<std::size_t>(dense.queries.rows()));
  std::vector<std::uint8_t> inconsistent(static_cast<std::size_t>(p.batch * p.heads_q), 0);
  const bool own = n.numerics.stats == spec::Origin::own ||
                   n.numerics.delta != spec::RowTerm::given ||
                   (!dense.sinks.empty() && n.numerics.dsink_row == spec::SinkRow::given_o);
  const Variant* const variant = variant_of(dense);
  const auto make = [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, head = task % p.heads_q;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const std::int64_t number = dense.queries.row(b, head, i);
      RowTerms& row = all.rows[static_cast<std::size_t>(number)];
      row.max = dense.softmax_max(number);
      row.sum = dense.softmax_sum(number);
      row.live =
          row.max != -static_cast<double>(std::numeric_limits<float>::max()) && p.length_kv(b) > 0;
      given_delta(call, dense.dy(b, head, i), dense.attention_in(b, head, i), row);
    }
    if (own && !own_terms(dense, n, b, head, all)) inconsistent[static_cast<std::size_t>(task)] = 1;
    if (variant == nullptr || !variant->has_dlse()) return;
    for (std::int64_t i = 0; i < p.length_q(b); ++i)
      subtract_dlse(variant->dlse<double>({b, head, i, 0}), n.u,
                    all.rows[at(dense.queries.row(b, head, i))]);
  };
  parallel::for_each(p.batch * p.heads_q, make);
  all.consistent = std::count(inconsistent.begin(), inconsistent.end(), 1) == 0;
  return all;
}

}  // namespace assay::conformance::attention
