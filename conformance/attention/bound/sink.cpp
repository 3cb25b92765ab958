#include "attention/bound/sink.hpp"

#include <algorithm>
#include <cmath>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

using spec::at;

/// A sum of products, as a kernel computes it.
struct Terms {
  double value = 0, magnitudes = 0;
  double errors = 0;  ///< proven errors of the factors and of their products
  double count = 0;

  Terms& operator+=(const Terms& other) {
    value += other.value, magnitudes += other.magnitudes;
    errors += other.errors, count += other.count;
    return *this;
  }
};

/// Sums over the rows of one head of one sequence.
struct Sums {
  Terms pairs;        ///< ps P dP of every pair: the definition
  Terms channels;     ///< ps dy attention_in of every channel, if the kernel sums these
  double radius = 0;  ///< error of the value of `pairs`, which is computed in double

  Sums& operator+=(const Sums& other) {
    pairs += other.pairs, channels += other.channels, radius += other.radius;
    return *this;
  }
};

class RowOfSink {
 public:
  RowOfSink(const Dense& dense, const Arithmetic& n, const Call& call, const RowTerms& row,
            double sink)
      : dense_(dense),
        n_(n),
        call_(call),
        row_{row.max, row.sum, row.delta},
        on_(call.units, {engine::Symbol{}, row.max_error}),
        sink_(sink) {}

  Sums sums(const RowProducts& products) const {
    const PairNumber ps = sink_probability(on_, call_, row_, sink_);
    const Variant* variant = score_variant_of(dense_);
    const double width = static_cast<double>(dense_.width() + dense_.problem.head_dim_v);
    Terms terms;
    double radius = 0;
    for (std::size_t c = 0; c < products.times.size(); ++c) {
      if (products.times[c] == 0) continue;
      const double times = products.times[c];
      const PairNumber score = stored_score_of(on_, call_, row_, products, c, variant);
      const PairNumber p = probability(on_, call_, row_, score);
      const PairNumber dp = on_.stored(dprob(on_, call_, pair_of(products, c)), call_.dprob);
      const double size = p.value * std::abs(dp.value);
      terms += {.value = times * p.value * dp.value,
                .magnitudes = times * size,
                .errors = times * ((p * dp).rigorous + 3 * n_.u * size),
                .count = times};
      const double exponent = std::abs(dense_.scale) * products.score_abs[c] * width +
                              std::abs(products.bias[c]) + std::abs(row_.max);
      radius += times * p.value * products.dprob_abs[c] * (exponent + width + 8);
    }
    const double distance = std::abs(sink_) + std::abs(row_.max) + 8;
    Sums sums = {.pairs = multiplied(ps, terms),
                 .radius = 0x1p-52 * ps.value * (radius + distance * terms.magnitudes)};
    if (n_.numerics.dsink_row == spec::SinkRow::given_o)
      sums.channels = multiplied(ps, channels(products.query));
    return sums;
  }

 private:
  /// Returns the products of dy and the given attention_in, which the kernel reads exactly.
  Terms channels(const spec::RowPosition& q) const {
    const FloatRow dy = dense_.dy(q.b, q.n, q.s);
    const std::vector<double> output = dense_.attention_in(q.b, q.n, q.s);
    Terms terms = {.count = static_cast<double>(dense_.problem.head_dim_v)};
    for (std::int64_t d = 0; d < dense_.problem.head_dim_v; ++d) {
      const double product = dy[d] * output[static_cast<std::size_t>(d)];
      terms.value += product;
      terms.magnitudes += std::abs(product);
    }
    terms.errors = 2 * n_.u * terms.magnitudes;
    return terms;
  }
  static Terms multiplied(const PairNumber& ps, const Terms& by) {
    return {.value = ps.value * by.value,
            .magnitudes = ps.value * by.magnitudes,
            .errors = (ps.value + ps.rigorous) * by.errors + ps.rigorous * by.magnitudes,
            .count = by.count};
  }

  const Dense& dense_;
  const Arithmetic& n_;
  const Call& call_;
  Row<double> row_;
  PairReading on_;
  double sink_;
};

/// Sums over all query rows of one head in one sequence.
Sums sums_of_head(const Dense& dense, const Arithmetic& n, const AllRowTerms& all, std::int64_t b,
                  std::int64_t head) {
  const Call call = call_of(dense, n);
  Sums sums;
  each_row_of_head(dense, b, head, [&](std::int64_t number, const RowProducts& products) {
    sums += RowOfSink(dense, n, call, all.rows[at(number)], dense.sinks[at(head)]).sums(products);
  });
  return sums;
}

/// E51. Fills in the element of one head. The judge reads the same attention_in as the kernel, so
/// it knows the sum of the roundings of attention_in: the difference of the two values.
void put_head(const Sums& sums, const Arithmetic& n, double lambda, Expectation& e,
              std::size_t head) {
  const bool is_given = n.numerics.dsink_row == spec::SinkRow::given_o;
  const Terms& of = is_given ? sums.channels : sums.pairs;
  const double drift = std::abs(of.value - sums.pairs.value);
  const double proven = (of.count + 4) * n.u * of.magnitudes;
  const double probable =
      n.mean_free ? std::min(proven, (lambda * std::sqrt(of.count) + 4) * n.u * of.magnitudes)
                  : proven;
  const double underflow = of.magnitudes == 0 ? 0 : output_underflow_of(spec::DType::fp32);
  e.value[head] = -sums.pairs.value;
  e.radius[head] = sums.radius + 0x1p-52 * sums.pairs.count * sums.pairs.magnitudes;
  e.tau_det[head] = drift + of.errors + proven + underflow;
  e.tau[head] = drift + of.errors + probable + underflow;
  e.floor[head] = underflow;
  e.core[head] = static_cast<float>(drift + of.errors);
  e.accumulation[head] = static_cast<float>(probable);
  e.extra[head] = static_cast<float>(underflow);
}

}  // namespace

Expectation sink_frame(const Dense& dense) {
  Expectation e{.name = "dsink", .extents = sink_extents(dense.problem)};
  e.rows = ascending(0, dense.problem.heads_q);
  e.biasable = false, e.is_fp32 = true;
  return e;
}

Expectation sink_expectation(const Dense& dense, const Arithmetic& n, const AllRowTerms& rows) {
  const Op::Problem& p = dense.problem;
  std::vector<Sums> all(at(p.batch * p.heads_q));
  parallel::for_each(std::ssize(all), [&](std::int64_t task) {
    all[at(task)] = sums_of_head(dense, n, rows, task / p.heads_q, task % p.heads_q);
  });
  Expectation e = sink_frame(dense);
  e.resize(e.row_count());
  const double lambda = azuma_factor(p.heads_q);
  for (std::int64_t head = 0; head < p.heads_q; ++head) {
    Sums sums;
    for (std::int64_t b = 0; b < p.batch; ++b) sums += all[at(b * p.heads_q + head)];
    put_head(sums, n, lambda, e, at(head));
  }
  return e;
}

}  // namespace assay::conformance::attention
