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

/// Sums over the pairs of one head of one sequence.
struct Sums {
  double value = 0;       ///< ps P dP
  double magnitudes = 0;  ///< the same, with |dP|
  double errors = 0;      ///< proven errors of ps, P, dP and of their products
  double radius = 0;      ///< error of `value`, which is computed in double
  double pairs = 0;

  Sums& operator+=(const Sums& other) {
    value += other.value, magnitudes += other.magnitudes, errors += other.errors;
    radius += other.radius, pairs += other.pairs;
    return *this;
  }
};

/// The error of dy . attention_in as the factor of ps, instead of the sum of P dP: attention_in is
/// rounded to the type of the tensors.
double error_of_given_output(const Dense& dense, const Arithmetic& n, const double* dy,
                             const double* output) {
  double rounding = 0, magnitudes = 0;
  for (std::int64_t d = 0; d < dense.problem.head_dim_v; ++d) {
    rounding += std::abs(dy[d]) * n.out_error(std::abs(output[d]));
    magnitudes += std::abs(dy[d] * output[d]);
  }
  return rounding + (static_cast<double>(dense.problem.head_dim_v) + 4) * n.u * magnitudes;
}

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
    double value = 0, magnitudes = 0, errors = 0, radius = 0, pairs = 0;
    for (std::size_t c = 0; c < products.times.size(); ++c) {
      if (products.times[c] == 0) continue;
      const double times = products.times[c];
      const PairNumber score = stored_score_of(on_, call_, row_, products, c, variant);
      const PairNumber p = probability(on_, call_, row_, score);
      const PairNumber dp = on_.stored(dprob(on_, call_, pair_of(products, c)), call_.dprob);
      const double size = p.value * std::abs(dp.value);
      value += times * p.value * dp.value;
      magnitudes += times * size;
      errors += times * ((p * dp).rigorous + 3 * n_.u * size);
      const double exponent = std::abs(dense_.scale) * products.score_abs[c] * width +
                              std::abs(products.bias[c]) + std::abs(row_.max);
      radius += times * p.value * products.dprob_abs[c] * (exponent + width + 8);
      pairs += times;
    }
    const double distance = std::abs(sink_) + std::abs(row_.max) + 8;
    return {.value = ps.value * value,
            .magnitudes = ps.value * magnitudes,
            .errors = (ps.value + ps.rigorous) * errors + ps.rigorous * magnitudes,
            .radius = 0x1p-52 * ps.value * (radius + distance * magnitudes),
            .pairs = pairs};
  }
  /// Returns the error of the row if the kernel uses dy . attention_in.
  double error_of_given(const spec::RowPosition& q) const {
    const PairNumber ps = sink_probability(on_, call_, row_, sink_);
    return (ps.value + ps.rigorous) * error_of_given_output(dense_, n_, dense_.dy(q.b, q.n, q.s),
                                                            dense_.attention_in(q.b, q.n, q.s));
  }

 private:
  const Dense& dense_;
  const Arithmetic& n_;
  const Call& call_;
  Row<double> row_;
  PairReading on_;
  double sink_;
};

/// Adds up all rows of one head of one sequence.
Sums sums_of_head(const Dense& dense, const Arithmetic& n, const AllRowTerms& all, std::int64_t b,
                  std::int64_t head) {
  const Call call = call_of(dense, n);
  Sums sums;
  each_row_of_head(dense, b, head, [&](std::int64_t number, const RowProducts& products) {
    const RowOfSink row(dense, n, call, all.rows[at(number)], dense.sinks[at(head)]);
    sums += row.sums(products);
    if (n.numerics.dsink_row == spec::SinkRow::given_o)
      sums.errors += row.error_of_given(products.query);
  });
  return sums;
}

/// Fills in the element of one head.
void put(const Sums& sums, const Arithmetic& n, double lambda, Expectation& e, std::size_t head) {
  const double proven = (sums.pairs + 4) * n.u * sums.magnitudes;
  const double probable =
      n.mean_free ? std::min(proven, (lambda * std::sqrt(sums.pairs) + 4) * n.u * sums.magnitudes)
                  : proven;
  const double underflow = sums.magnitudes == 0 ? 0 : output_underflow_of(spec::DType::fp32);
  e.value[head] = -sums.value;
  e.radius[head] = sums.radius + 0x1p-52 * sums.pairs * sums.magnitudes;
  e.tau_det[head] = sums.errors + proven + underflow;
  e.tau[head] = sums.errors + probable + underflow;
  e.floor[head] = underflow;
  e.core[head] = static_cast<float>(sums.errors);
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
  dense.each_chunk([&](std::int64_t first, std::int64_t last) {
    parallel::for_each((last - first) * p.group(), [&](std::int64_t k) {
      const std::int64_t task = first * p.group() + k;
      all[at(task)] = sums_of_head(dense, n, rows, task / p.heads_q, task % p.heads_q);
    });
  });
  Expectation e = sink_frame(dense);
  e.resize(e.row_count());
  const double lambda = azuma_factor(p.heads_q);
  for (std::int64_t head = 0; head < p.heads_q; ++head) {
    Sums sums;
    for (std::int64_t b = 0; b < p.batch; ++b) sums += all[at(b * p.heads_q + head)];
    put(sums, n, lambda, e, at(head));
  }
  return e;
}

}  // namespace assay::conformance::attention
