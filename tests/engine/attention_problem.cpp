#include "attention_problem.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::engine::attention {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Returns the nearest number with seven significant bits, which bfloat16 can represent.
double short_number(double x) {
  if (x == 0) return 0;
  const double step = std::ldexp(1.0, std::ilogb(x) - 6);
  return std::nearbyint(x / step) * step;
}

std::vector<double> numbers(std::mt19937_64& random, std::int64_t count, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> drawn(at(count));
  for (double& x : drawn) x = short_number(uniform(random));
  return drawn;
}

}  // namespace

Head random_head(const Draw& draw) {
  std::mt19937_64 random(draw.seed);
  const std::int64_t q = draw.queries, k = draw.keys, pairs = q * k;
  Head head = {.queries = q, .keys = k, .dim = draw.dim, .dim_v = draw.dim_v};
  head.query = numbers(random, q * draw.dim, draw.size);
  head.key = numbers(random, k * draw.dim, draw.size);
  head.value = numbers(random, k * draw.dim_v, draw.size);
  head.dy = numbers(random, q * draw.dim_v, draw.size);
  head.kappa.assign(at(pairs), 1 / draw.keep_prob);
  head.times.assign(at(pairs), 1.0);
  std::uniform_real_distribution<double> unit(0, 1);
  for (double& x : head.kappa)
    if (unit(random) >= draw.keep_prob) x = 0;
  for (double& x : head.times)
    if (unit(random) >= draw.attended) x = 0;
  head.call.scale = draw.scale;
  head.call.kappa = 1 / draw.keep_prob;
  head.call.dim = static_cast<double>(draw.dim);
  head.call.dim_v = static_cast<double>(draw.dim_v);
  for (auto* of_sum : {&head.weights[0], &head.weights[1], &head.weights[2]})
    *of_sum = numbers(random, of_sum == &head.weights[0] ? k : q, draw.size);
  give_forward(head);
  return head;
}

void give_forward(Head& head) {
  head.max.assign(at(head.queries), 0.0);
  head.sum.assign(at(head.queries), 1.0);
  head.attention_in.assign(at(head.queries * head.dim_v), 0.0);
  for (std::int64_t i = 0; i < head.queries; ++i) {
    std::vector<double> scores(at(head.keys), -HUGE_VAL);
    double max = -HUGE_VAL, sum = 0;
    for (std::int64_t j = 0; j < head.keys; ++j) {
      if (head.times[at(i * head.keys + j)] == 0) continue;
      double dot = 0;
      for (std::int64_t d = 0; d < head.dim; ++d)
        dot += head.query[at(i * head.dim + d)] * head.key[at(j * head.dim + d)];
      scores[at(j)] = head.call.scale * dot;
      max = std::max(max, scores[at(j)]);
    }
    if (max == -HUGE_VAL) continue;
    for (std::int64_t j = 0; j < head.keys; ++j)
      sum += head.times[at(i * head.keys + j)] * std::exp(scores[at(j)] - max);
    head.max[at(i)] = static_cast<float>(max);
    head.sum[at(i)] = static_cast<float>(sum);
    for (std::int64_t j = 0; j < head.keys; ++j) {
      const double weight = head.times[at(i * head.keys + j)] * head.kappa[at(i * head.keys + j)] *
                            std::exp(scores[at(j)] - max) / sum;
      for (std::int64_t d = 0; d < head.dim_v; ++d)
        head.attention_in[at(i * head.dim_v + d)] += weight * head.value[at(j * head.dim_v + d)];
    }
    for (std::int64_t d = 0; d < head.dim_v; ++d) {
      double& x = head.attention_in[at(i * head.dim_v + d)];
      x = short_number(x);
    }
  }
}

namespace {

template <class T>
Products<T> products(const std::vector<double>& a, std::int64_t row, const std::vector<double>& b,
                     std::int64_t other, std::int64_t dim) {
  Products<T> of{T(0), T(0), T(0)};
  for (std::int64_t d = 0; d < dim; ++d) {
    const T product = T(a[at(row * dim + d)]) * T(b[at(other * dim + d)]);
    of.sum += product;
    of.magnitudes += magnitude_of(product);
    of.squares += product * product;
  }
  return of;
}

template <class T>
Pair<T> pair_of(const Head& h, std::int64_t i, std::int64_t j) {
  Pair<T> pair = {products<T>(h.query, i, h.key, j, h.dim),
                  products<T>(h.dy, i, h.value, j, h.dim_v), T(0), T(0)};
  // kappa is 1 / keep_prob, already rounded to double, so that double and the higher precision use
  // the same number.
  pair.kappa = T(h.kappa[at(i * h.keys + j)]);
  return pair;
}

/// Calls of_row(i) for every query row, and of_pair(i, j, times) for every key j to which row i
/// attends.
template <class OfRow, class OfPair>
void for_each_pair(const Head& h, OfRow of_row, OfPair of_pair) {
  for (std::int64_t i = 0; i < h.queries; ++i) {
    of_row(i);
    for (std::int64_t j = 0; j < h.keys; ++j)
      if (const double times = h.times[at(i * h.keys + j)]; times != 0) of_pair(i, j, times);
  }
}

/// Adds the contribution of query i and key j to the three gradients. `ds` is dS, and `prob` is P
/// times the dropout factor kappa. The caller has already multiplied both by `times`.
template <class T>
void add(Gradients<T>& sums, const Head& h, std::int64_t i, std::int64_t j, const T& ds,
         const T& prob) {
  for (std::int64_t d = 0; d < h.dim; ++d) {
    sums.dq[at(i * h.dim + d)] += ds * T(h.key[at(j * h.dim + d)]);
    sums.dk[at(j * h.dim + d)] += ds * T(h.query[at(i * h.dim + d)]);
  }
  for (std::int64_t d = 0; d < h.dim_v; ++d)
    sums.dv[at(j * h.dim_v + d)] += prob * T(h.dy[at(i * h.dim_v + d)]);
}

template <class T>
Gradients<T> zeros(const Head& h) {
  return {std::vector<T>(at(h.queries * h.dim), T(0)), std::vector<T>(at(h.keys * h.dim), T(0)),
          std::vector<T>(at(h.keys * h.dim_v), T(0))};
}

template <class T>
void scale(Gradients<T>& g, const Head& h) {
  for (T& x : g.dq) x *= T(h.call.scale);
  for (T& x : g.dk) x *= T(h.call.scale);
}

/// Evaluates the gradients with number type T. make(source) returns an object that computes with
/// this type for one query, or for one query and one key.
template <class T, class Make>
Gradients<T> read(const Head& h, Make make) {
  Gradients<T> sums = zeros<T>(h);
  Row<T> row;
  for_each_pair(
      h,
      [&](std::int64_t i) {
        auto on = make(Source{.row = i, .number = Source::of_row});
        row = {h.max[at(i)], h.sum[at(i)],
               row_term(on, h.call, products<T>(h.dy, i, h.attention_in, i, h.dim_v))};
      },
      [&](std::int64_t i, std::int64_t j, double times) {
        auto on = make(Source{.row = i, .partner = j});
        const auto terms = pair_terms(on, h.call, row, pair_of<T>(h, i, j));
        add(sums, h, i, j, T(times * terms[0].number), T(times * terms[1].number));
      });
  scale(sums, h);
  return sums;
}

/// Computes a tolerance, but omits or reduces one of the rounding errors that the formula declares.
class FaultyReading : public ToleranceReading<double, symbols> {
 public:
  FaultyReading(const Units& units, const std::array<Symbol, symbols>& of_row,
                const Injected& injected)
      : ToleranceReading(units, of_row), injected_(injected) {}

  Number dot(const Products<double>& of, double terms) {
    if (dots_++ != injected_.dot) return ToleranceReading::dot(of, terms);
    return ToleranceReading::dot({of.sum, injected_.factor * of.magnitudes, of.squares}, terms);
  }
  template <class... Moment>
  Number rounded(const Number& x, double size, double times, Level level, const Moment&... moment) {
    if (roundings_++ == injected_.rounding) size *= injected_.factor;
    return ToleranceReading::rounded(x, size, times, level, moment...);
  }
  Number exponential(const Number& x, double z, double error) const {
    return ToleranceReading::exponential(x, z, injected_.exponential ? 0 : error);
  }
  Number residue(const Number& x, double phi) const {
    return injected_.residue ? x : ToleranceReading::residue(x, phi);
  }
  template <class... Size>
  Number stored(const Number& x, const Store& store, const Size&... size) const {
    return ToleranceReading::stored(x, injected_.store ? Store() : store, size...);
  }
  Coefficient<Number, double> staged(const Number& x, const Store& store) const {
    return ToleranceReading::staged(x, injected_.store ? Store() : store);
  }

 private:
  Injected injected_;
  int dots_ = 0, roundings_ = 0;
};

template <class Sums>
std::vector<Bound> finish(const std::vector<Sums>& sums, const Output& output, double factor) {
  std::vector<Bound> bounds;
  for (const auto& sum : sums) bounds.push_back(written(sum, output, factor, sums.size()));
  return bounds;
}

}  // namespace

Bound written(const Element& element, Output output, double factor, std::size_t elements) {
  output.factor = factor;
  output.roundings = factor == 1 ? 0 : 2;
  output.operands = output.units.operands;
  output.lambda = mean_free_factor(static_cast<std::int64_t>(elements), 1e-9);
  output.chain = chain_of(element.terms, output);
  return bound_of(element, output);
}

template <class T>
Gradients<T> plain_gradients(const Head& head) {
  return read<T>(head, [](const Source&) { return PlainReading<T>(); });
}
template Gradients<double> plain_gradients(const Head&);
template Gradients<Naive> plain_gradients(const Head&);

Gradients<double> injected_gradients(const Head& head, const Shares& shares) {
  return read<double>(
      head, [&](const Source& at) { return InjectionReading(head.call.units, shares, at); });
}

Gradients<Bound> bounds(const Head& h, const Output& output, const Injected& injected) {
  std::vector<Element> dq(at(h.queries * h.dim));
  std::vector<SumOverRows<symbols>> dk(at(h.keys * h.dim)), dv(at(h.keys * h.dim_v));
  std::vector<SumWithinRow<symbols>> of_query;
  std::array<Symbol, symbols> of_row;
  Row<double> row;
  const auto finish_query = [&](std::int64_t i) {
    for (std::int64_t d = 0; d < h.dim; ++d) dq[at(i * h.dim + d)] = of_query[at(d)].with(of_row);
  };
  for_each_pair(
      h,
      [&](std::int64_t i) {
        if (i > 0) finish_query(i - 1);
        of_query.assign(at(h.dim), {});
        const ToleranceReading<double, 0> on(h.call.units, {});
        const auto delta =
            row_term(on, h.call, products<double>(h.dy, i, h.attention_in, i, h.dim_v));
        of_row = {symbol_of(delta), Symbol{}};
        row = {h.max[at(i)], h.sum[at(i)], delta.value};
      },
      [&](std::int64_t i, std::int64_t j, double times) {
        FaultyReading on(h.call.units, of_row, injected);
        const auto [ds, prob] = pair_terms(on, h.call, row, pair_of<double>(h, i, j));
        for (std::int64_t d = 0; d < h.dim; ++d) {
          of_query[at(d)].add(ds, h.key[at(j * h.dim + d)], times);
          dk[at(j * h.dim + d)].add(ds, of_row, h.query[at(i * h.dim + d)], times);
        }
        for (std::int64_t d = 0; d < h.dim_v; ++d)
          dv[at(j * h.dim_v + d)].add(prob, of_row, h.dy[at(i * h.dim_v + d)], times);
      });
  finish_query(h.queries - 1);
  const auto elements = [](const std::vector<SumOverRows<symbols>>& sums) {
    std::vector<Element> all;
    for (const auto& sum : sums) all.push_back(sum.element());
    return all;
  };
  return {finish(dq, output, h.call.scale), finish(elements(dk), output, h.call.scale),
          finish(elements(dv), output, 1)};
}

double conspiracy(const std::function<Gradients<double>(const Shares&)>& kernel, Place place) {
  std::vector<Source> sources;
  const auto element = [&](const Shares& shares) {
    return (kernel(shares).*place.gradient)[place.index];
  };
  const double exact = element([&](const Source& source) {
    sources.push_back(source);
    return 0.0;
  });
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::vector<double> signs(sources.size());
  const auto index = [&](const Source& source) {
    return static_cast<std::size_t>(std::ranges::lower_bound(sources, source) - sources.begin());
  };
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const double moved =
        element([&](const Source& source) { return source == sources[k] ? 1.0 : 0.0; });
    signs[k] = moved < exact ? -1 : 1;
  }
  return std::abs(element([&](const Source& source) { return signs[index(source)]; }) - exact);
}

Shares random_signs(std::uint64_t seed) {
  return [seed](const Source& source) {
    std::seed_seq mixed = {seed, static_cast<std::uint64_t>(source.row + 1),
                           static_cast<std::uint64_t>(source.partner + 1),
                           static_cast<std::uint64_t>(source.number)};
    std::uint32_t drawn = 0;
    mixed.generate(&drawn, &drawn + 1);
    return (drawn & 1) != 0 ? 1.0 : -1.0;
  };
}

}  // namespace assay::engine::attention
