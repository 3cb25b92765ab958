#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::test {
namespace {

using spec::Extents;
using spec::Tensor;

/// Converts a tensor of attention to contiguous doubles in the order (b, n, s, d).
struct Operand {
  Extents extents;
  std::vector<double> numbers;

  const double* row(std::int64_t b, std::int64_t n, std::int64_t s) const {
    return numbers.data() + extents.row(b, n, s) * extents.dim;
  }
};

double dot(const double* x, const double* y, std::int64_t count) {
  double sum = 0;
  for (std::int64_t d = 0; d < count; ++d) sum += x[d] * y[d];
  return sum;
}

/// Computes the numbers of one query and one key from which the gradients follow: the score, P, dP,
/// the dropout factor and the row term.
class Pairs {
 public:
  Pairs(const Example& example, const Op::Inputs& inputs)
      : example_(example),
        p_(example.problem),
        query(operand(inputs.query, query_extents(p_))),
        key(operand(inputs.key, key_extents(p_))),
        value(operand(inputs.value, value_extents(p_))),
        dy(operand(inputs.dy, dy_extents(p_))),
        attention(operand(inputs.attention_in, dy_extents(p_))) {
    if (p_.head_dim_rope == 0) return;
    query_rope = operand(*inputs.query_rope, query_rope_extents(p_));
    key_rope = operand(*inputs.key_rope, key_rope_extents(p_));
  }

  bool keeps(const Pair& x) const { return kept(example_, x); }
  double factor(const Pair& x) const {
    if (!p_.has_dropout()) return 1;
    return dropped(x) ? 0 : 1 / static_cast<double>(static_cast<float>(p_.keep_prob));
  }
  double score(const Pair& x) const {
    const double scale = static_cast<float>(p_.scale_value);
    double sum = dot(query.row(x.b, x.n, x.i), key.row(x.b, kv(x), x.j), p_.head_dim);
    if (p_.head_dim_rope > 0)
      sum += dot(query_rope.row(x.b, x.n, x.i), key_rope.row(x.b, kv(x), x.j), p_.head_dim_rope);
    return p_.pse_type == 1 ? scale * (sum + bias(p_, x)) : scale * sum + bias(p_, x);
  }
  double prob(const Pair& x, double max, double sum) const {
    return keeps(x) ? std::exp(score(x) - max) / sum : 0;
  }
  double dprob(const Pair& x) const {
    return dot(dy.row(x.b, x.n, x.i), value.row(x.b, kv(x), x.j), p_.head_dim_v);
  }
  double row_term(const Pair& x) const {
    return dot(dy.row(x.b, x.n, x.i), attention.row(x.b, x.n, x.i), p_.head_dim_v);
  }
  std::int64_t kv(const Pair& x) const { return x.n / p_.group(); }

 private:
  Operand operand(const Tensor& tensor, const Extents& extents) const {
    return {extents, values(tensor, p_.input_layout, extents)};
  }

  const Example& example_;
  const Op::Problem& p_;

 public:
  Operand query, key, value, dy, attention, query_rope, key_rope;
};

double sink_of(const Op::Inputs& inputs, std::int64_t n) {
  return inputs.sink->load(spec::viewed_elements(*inputs.sink)[static_cast<std::size_t>(n)]);
}

template <class Visit>
void for_each_row(const Op::Problem& p, const Visit& visit) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) visit(Pair{b, n, i, 0});
}

void run_forward(const Example& example, Op::Inputs& inputs) {
  const Op::Problem& p = example.problem;
  const Pairs pairs(example, inputs);
  const spec::HeadIndex attention(inputs.attention_in, p.input_layout, dy_extents(p));
  for_each_row(p, [&](const Pair& row) {
    constexpr double largest = std::numeric_limits<float>::max();
    const std::int64_t keys = p.length_kv(row.b);
    const double sink = p.has_sink() ? sink_of(inputs, row.n) : -largest;
    double max = sink, sum = 0;
    std::vector<double> scores(static_cast<std::size_t>(keys), -largest);
    for (std::int64_t j = 0; j < keys; ++j)
      if (const Pair x{row.b, row.n, row.i, j}; pairs.keeps(x))
        max = std::max(max, scores[static_cast<std::size_t>(j)] = pairs.score(x));
    if (p.has_sink()) sum = std::exp(sink - max);
    std::vector<double> out(static_cast<std::size_t>(p.head_dim_v), 0.0);
    for (std::int64_t j = 0; j < keys; ++j) {
      const Pair x{row.b, row.n, row.i, j};
      if (!pairs.keeps(x)) continue;
      const double weight = std::exp(scores[static_cast<std::size_t>(j)] - max);
      sum += weight;
      const double* const value = pairs.value.row(x.b, pairs.kv(x), j);
      for (std::int64_t d = 0; d < p.head_dim_v; ++d)
        out[static_cast<std::size_t>(d)] += pairs.factor(x) * weight * value[d];
    }
    const bool dead = sum == 0;
    for (std::int64_t d = 0; d < p.head_dim_v; ++d)
      inputs.attention_in.store(attention(row.b, row.n, row.i, d),
                                dead ? 0 : out[static_cast<std::size_t>(d)] / sum);
    for (auto [tensor, value] : {std::pair(&inputs.softmax_max, max),
                                 std::pair(&inputs.softmax_sum, dead ? largest : sum)})
      for (const std::int64_t element : statistics_elements(p, *tensor, row))
        tensor->store(element, value);
  });
}

/// Adds factor * row(d) to sums(d) for every channel d.
void add(double factor, const double* row, std::int64_t count, double* sums) {
  for (std::int64_t d = 0; d < count; ++d) sums[d] += factor * row[d];
}

}  // namespace

Op::Inputs inputs_of(const Example& example) {
  Op::Inputs inputs = inputs_without_forward(example);
  run_forward(example, inputs);
  return inputs;
}

Gradients oracle(const Example& example, const Op::Inputs& inputs) {
  const Op::Problem& p = example.problem;
  const Pairs pairs(example, inputs);
  const double scale = static_cast<float>(p.scale_value);
  const auto sized = [](const Operand& like) {
    return std::vector<double>(like.numbers.size(), 0.0);
  };
  Gradients g{sized(pairs.query), sized(pairs.key), sized(pairs.value), sized(pairs.query_rope),
              sized(pairs.key_rope)};
  if (p.has_sink()) g.dsink.assign(static_cast<std::size_t>(p.heads_q), 0.0);
  const Extents q = query_extents(p), k = key_extents(p);
  for_each_row(p, [&](const Pair& row) {
    const auto statistic = [&](const Tensor& tensor) {
      return tensor.load(statistics_elements(p, tensor, row).front());
    };
    const double max = statistic(inputs.softmax_max), sum = statistic(inputs.softmax_sum);
    const double row_term = pairs.row_term(row);
    const std::int64_t at_q = q.row(row.b, row.n, row.i), kv = pairs.kv(row);
    const double sink_prob = p.has_sink() ? std::exp(sink_of(inputs, row.n) - max) / sum : 0;
    for (std::int64_t j = 0; j < p.length_kv(row.b); ++j) {
      const Pair x{row.b, row.n, row.i, j};
      const double prob = pairs.prob(x, max, sum);
      if (prob == 0) continue;
      const double factor = pairs.factor(x);
      const double dscore = prob * (factor * pairs.dprob(x) - row_term);
      if (p.has_sink())
        g.dsink[static_cast<std::size_t>(x.n)] -= sink_prob * prob * factor * pairs.dprob(x);
      const std::int64_t at_k = k.row(x.b, kv, j), d = p.head_dim, dr = p.head_dim_rope;
      add(scale * dscore, pairs.key.row(x.b, kv, j), d, g.dq.data() + at_q * d);
      add(scale * dscore, pairs.query.row(x.b, x.n, x.i), d, g.dk.data() + at_k * d);
      add(factor * prob, pairs.dy.row(x.b, x.n, x.i), p.head_dim_v,
          g.dv.data() + at_k * p.head_dim_v);
      if (dr == 0) continue;
      add(scale * dscore, pairs.key_rope.row(x.b, kv, j), dr, g.dq_rope.data() + at_q * dr);
      add(scale * dscore, pairs.query_rope.row(x.b, x.n, x.i), dr, g.dk_rope.data() + at_k * dr);
    }
  });
  return g;
}

std::vector<double> values(const Tensor& tensor, spec::Layout layout, const Extents& e) {
  const spec::HeadIndex index(tensor, layout, e);
  std::vector<double> result;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) result.push_back(tensor.load(index(b, n, s, d)));
  return result;
}

Gradients values(const Op::Problem& p, const Op::Outputs& outputs) {
  Gradients g{.dq = values(outputs.dq, p.input_layout, query_extents(p)),
              .dk = values(outputs.dk, p.input_layout, key_extents(p)),
              .dv = values(outputs.dv, p.input_layout, value_extents(p)),
              .dq_rope = {},
              .dk_rope = {}};
  for (std::int64_t n = 0; p.has_sink() && n < p.heads_q; ++n)
    g.dsink.push_back(
        outputs.dsink->load(spec::viewed_elements(*outputs.dsink)[static_cast<std::size_t>(n)]));
  if (p.head_dim_rope == 0) return g;
  g.dq_rope = values(outputs.dq_rope.value(), p.input_layout, query_rope_extents(p));
  g.dk_rope = values(outputs.dk_rope.value(), p.input_layout, key_rope_extents(p));
  return g;
}

}  // namespace assay::test
