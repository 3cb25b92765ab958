#include <cmath>

#include "attention_problem.hpp"

namespace assay::engine::attention {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Applies the rounding errors of a kernel, in the order in which the kernel makes them. An object
/// is for one query, for one query and one key, or for the whole call.
class Steps {
 public:
  Steps(const Call& call, const Shares& shares, Source source)
      : call_(call), shares_(shares), source_(source) {}

  double share() {
    const double share = shares_(source_);
    ++source_.number;
    return share;
  }
  /// Rounds the result of one fp32 operation.
  double fp32(double x) { return x * (1 + share() * call_.units.u); }
  /// Returns a dot product with the largest error that any order of additions can cause.
  double dot(const double* a, const double* b, std::int64_t terms) {
    double sum = 0, size = 0;
    for (std::int64_t d = 0; d < terms; ++d) {
      sum += a[d] * b[d];
      size += std::abs(a[d] * b[d]);
    }
    const double worst = (static_cast<double>(terms) + 4) * call_.units.u_sum;
    return sum + share() * size * worst + share() * size * call_.units.operands;
  }
  double stored(double x, const Store& store) { return x + share() * store.error(std::abs(x)); }

 private:
  const Call& call_;
  const Shares& shares_;
  Source source_;
};

/// Relative errors of the two rounded constants that multiply the score and the maximum in the
/// fused form.
struct Fused {
  double score = 0, max = 0;
};
double probability(Steps& steps, const Call& call, const Fused& fused, double dot, double max,
                   double sum) {
  const double scaled = steps.fp32(dot * call.scale) * (1 + fused.score);
  double score = steps.stored(scaled, call.score);
  score = steps.fp32(score - max * (1 + fused.max));
  score += steps.share() * 4 * call.units.u;  // error of the argument of exp
  double p = std::exp(score) * (1 + steps.share() * call.exp_error);
  for (std::size_t k = 0; k < 4; ++k) p = steps.fp32(p);  // a division and its correction steps
  return steps.stored(p / sum + steps.share() * call.floor, call.prob);
}

/// Adds its rounding errors to one gradient element: the largest errors of the additions, of the
/// multiplication by the factor, and of the cast.
double written(Steps steps, const Output& output, double sum, double size, double terms,
               double factor) {
  const double accumulated = sum + steps.share() * (terms + 4) * output.units.u_sum * size;
  const double scaled = factor == 1 ? accumulated : steps.fp32(steps.fp32(accumulated * factor));
  return steps.stored(scaled, output.store);
}

}  // namespace

Gradients<double> stepwise_gradients(const Head& h, const Shares& shares, const Output* output) {
  const Call& call = h.call;
  Gradients<double> g = {std::vector<double>(at(h.queries * h.dim)),
                         std::vector<double>(at(h.keys * h.dim)),
                         std::vector<double>(at(h.keys * h.dim_v))};
  Gradients<double> size = g, terms = g;
  const auto add = [&](std::vector<double> Gradients<double>::*of, std::int64_t k, double x,
                       double times) {
    (g.*of)[at(k)] += times * x;
    (size.*of)[at(k)] += times * std::abs(x);
    (terms.*of)[at(k)] += times;
  };
  // 1 / keep_prob is the same number in the whole call, so it is rounded only once.
  Steps once(call, shares, {});
  const double dropped = call.kappa == 1 ? 1 : 1 + once.share() * call.units.u;
  Fused fused;
  if (call.fused) fused = {once.share() * 2 * call.units.u, once.share() * call.units.u};
  for (std::int64_t i = 0; i < h.queries; ++i) {
    Steps of_row(call, shares, {.row = i});
    const double* dy = &h.dy[at(i * h.dim_v)];
    double delta = of_row.dot(dy, &h.attention_in[at(i * h.dim_v)], h.dim_v);
    delta = of_row.fp32(of_row.fp32(delta));
    for (std::int64_t j = 0; j < h.keys; ++j) {
      const double times = h.times[at(i * h.keys + j)];
      const double kappa = h.kappa[at(i * h.keys + j)] * dropped;
      if (times == 0) continue;
      Steps pair(call, shares, {.row = i, .partner = j});
      const double dot = pair.dot(&h.query[at(i * h.dim)], &h.key[at(j * h.dim)], h.dim);
      const double p = probability(pair, call, fused, dot, h.max[at(i)], h.sum[at(i)]);
      const double dp =
          pair.stored(kappa * pair.dot(dy, &h.value[at(j * h.dim_v)], h.dim_v), call.dprob);
      const double t = pair.fp32(pair.fp32(dp - delta));
      const double ds = pair.stored(pair.fp32(pair.fp32(p * t)), call.stage);
      const double kept = pair.stored(p * kappa, call.stage_prob);
      for (std::int64_t d = 0; d < h.dim; ++d) {
        add(&Gradients<double>::dq, i * h.dim + d, ds * h.key[at(j * h.dim + d)], times);
        add(&Gradients<double>::dk, j * h.dim + d, ds * h.query[at(i * h.dim + d)], times);
      }
      for (std::int64_t d = 0; d < h.dim_v; ++d)
        add(&Gradients<double>::dv, j * h.dim_v + d, kept * dy[d], times);
    }
  }
  int first = 100;  // larger than the number of roundings of any call
  for (const auto of : {&Gradients<double>::dq, &Gradients<double>::dk, &Gradients<double>::dv}) {
    const double factor = of == &Gradients<double>::dv ? 1 : call.scale;
    for (std::size_t k = 0; k < (g.*of).size(); ++k) {
      double& x = (g.*of)[k];
      const Steps steps(call, shares, {.number = first += 10});
      x = output == nullptr ? x * factor
                            : written(steps, *output, x, (size.*of)[k], (terms.*of)[k], factor);
    }
  }
  return g;
}

}  // namespace assay::engine::attention
