#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::test {
namespace {

using spec::Extents;
using spec::HeadIndex;
using spec::Tensor;

/// A number in [-1, 1) from a counter: splitmix64.
double noise(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15U;
  seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9U;
  seed = (seed ^ seed >> 27) * 0x94D049BB133111EBU;
  return static_cast<double>((seed ^ seed >> 31) >> 11) * 0x1p-52 - 1;
}

Tensor tensor_of(const spec::Parameter& parameter, std::byte fill) {
  Tensor tensor{.dtype = parameter.dtype,
                .shape = parameter.shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  const std::int64_t elements =
      spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) + 2;
  tensor.bytes.assign(static_cast<std::size_t>(elements * spec::size_of(tensor.dtype)), fill);
  return tensor;
}

Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed, double scale) {
  Tensor tensor = tensor_of(parameter, std::byte{0x7F});
  std::uint64_t counter = seed << 40;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    tensor.store(element, scale * noise(counter++));
  return tensor;
}

spec::Call<Op> call(const Example& example) {
  return spec::call_of(example.problem, spec::FlashSurface::g2, spec::Product::a2, example.inputs,
                       example.outputs);
}

bool kept(const Example& e, std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
  const Op::Problem& p = e.problem;
  if (p.atten_mask == spec::MaskShape::absent) return true;
  if (p.sparse_mode == 2) return j <= i;
  if (p.sparse_mode == 3) return j <= i + p.seq_kv - p.seq_q;
  if (p.sparse_mode == 4) {
    const std::int64_t right = i + p.seq_kv - p.seq_q;
    return right - p.pre_tokens <= j && j <= right + p.next_tokens;
  }
  const bool per_head = p.atten_mask == spec::MaskShape::bnss;
  const bool per_batch = per_head || p.atten_mask == spec::MaskShape::b_one_ss;
  return !e.excludes(per_batch ? b : 0, per_head ? n : 0, i, j);
}

void fill_mask(const Example& e, Tensor& mask) {
  const std::size_t rank = mask.shape.size();
  spec::Shape index(rank, 0);
  for (const std::int64_t element : spec::viewed_elements(mask)) {
    const std::int64_t i = index[rank - 2], j = index[rank - 1];
    const bool out = e.problem.sparse_mode >= 2
                         ? j > i
                         : e.excludes(rank == 4 ? index[0] : 0, rank == 4 ? index[1] : 0, i, j);
    mask.store(element, out ? 1 : 0);
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < mask.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Everything of one pair that the gradients need.
class Pairs {
 public:
  Pairs(const Example& example, const Op::Inputs& inputs)
      : example_(example),
        p_(example.problem),
        inputs_(inputs),
        query_(inputs.query, p_.input_layout, query_extents(p_)),
        key_(inputs.key, p_.input_layout, key_extents(p_)),
        value_(inputs.value, p_.input_layout, value_extents(p_)),
        dy_(inputs.dy, p_.input_layout, dy_extents(p_)),
        attention_(inputs.attention_in, p_.input_layout, dy_extents(p_)) {}

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    return kept(example_, b, n, i, j);
  }
  double score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t d = 0; d < p_.head_dim; ++d) sum += query(b, n, i, d) * key(b, n, j, d);
    return static_cast<double>(static_cast<float>(p_.scale_value)) * sum;
  }
  double prob(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (!keeps(b, n, i, j)) return 0;
    return std::exp(score(b, n, i, j) - statistic(inputs_.softmax_max, b, n, i)) /
           statistic(inputs_.softmax_sum, b, n, i);
  }
  double dprob(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t d = 0; d < p_.head_dim_v; ++d) sum += dy(b, n, i, d) * value(b, n, j, d);
    return sum;
  }
  double row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    double sum = 0;
    for (std::int64_t d = 0; d < p_.head_dim_v; ++d)
      sum += dy(b, n, i, d) * inputs_.attention_in.load(attention_(b, n, i, d));
    return sum;
  }
  double query(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) const {
    return inputs_.query.load(query_(b, n, i, d));
  }
  double key(std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) const {
    return inputs_.key.load(key_(b, n / p_.group(), j, d));
  }
  double value(std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) const {
    return inputs_.value.load(value_(b, n / p_.group(), j, d));
  }
  double dy(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) const {
    return inputs_.dy.load(dy_(b, n, i, d));
  }

 private:
  static double statistic(const Tensor& tensor, std::int64_t b, std::int64_t n, std::int64_t i) {
    const spec::Shape& s = tensor.strides;
    return tensor.load(tensor.offset + b * s[0] + n * s[1] + i * s[2]);
  }

  const Example& example_;
  const Op::Problem& p_;
  const Op::Inputs& inputs_;
  HeadIndex query_, key_, value_, dy_, attention_;
};

void run_forward(const Example& example, Op::Inputs& inputs) {
  const Op::Problem& p = example.problem;
  const Pairs pairs(example, inputs);
  const HeadIndex attention(inputs.attention_in, p.input_layout, dy_extents(p));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        constexpr double largest = std::numeric_limits<float>::max();
        double max = -largest, sum = 0;
        std::vector<double> scores(static_cast<std::size_t>(p.seq_kv), -largest);
        for (std::int64_t j = 0; j < p.seq_kv; ++j)
          if (pairs.keeps(b, n, i, j))
            max = std::max(max, scores[static_cast<std::size_t>(j)] = pairs.score(b, n, i, j));
        std::vector<double> out(static_cast<std::size_t>(p.head_dim_v), 0.0);
        for (std::int64_t j = 0; j < p.seq_kv; ++j) {
          if (!pairs.keeps(b, n, i, j)) continue;
          const double weight = std::exp(scores[static_cast<std::size_t>(j)] - max);
          sum += weight;
          for (std::int64_t d = 0; d < p.head_dim_v; ++d)
            out[static_cast<std::size_t>(d)] += weight * pairs.value(b, n, j, d);
        }
        const bool dead = sum == 0;
        for (std::int64_t d = 0; d < p.head_dim_v; ++d)
          inputs.attention_in.store(attention(b, n, i, d),
                                    dead ? 0 : out[static_cast<std::size_t>(d)] / sum);
        for (std::int64_t lane = 0; lane < spec::statistics_replicas; ++lane)
          for (auto [tensor, value] : {std::pair(&inputs.softmax_max, max),
                                       std::pair(&inputs.softmax_sum, dead ? largest : sum)}) {
            const spec::Shape& s = tensor->strides;
            tensor->store(tensor->offset + b * s[0] + n * s[1] + i * s[2] + lane * s[3], value);
          }
      }
}

}  // namespace

Op::Inputs inputs_of(const Example& example) {
  const Op::Parameters t = call(example).parameters;
  Op::Inputs inputs{.query = random_tensor(t.query, 1, 1),
                    .key = random_tensor(t.key, 2, 1),
                    .value = random_tensor(t.value, 3, 1),
                    .dy = random_tensor(t.dy, 4, 1),
                    .softmax_max = random_tensor(t.softmax_max, 5, 0),
                    .softmax_sum = random_tensor(t.softmax_sum, 6, 0),
                    .attention_in = random_tensor(t.attention_in, 7, 0)};
  if (t.atten_mask.present) {
    inputs.atten_mask = tensor_of(t.atten_mask, std::byte{1});
    fill_mask(example, *inputs.atten_mask);
  }
  run_forward(example, inputs);
  return inputs;
}

Op::Outputs outputs_of(const Example& example) {
  const Op::Parameters t = call(example).parameters;
  constexpr std::byte garbage{0xAB};
  return {.dq = tensor_of(t.dq, garbage),
          .dk = tensor_of(t.dk, garbage),
          .dv = tensor_of(t.dv, garbage)};
}

Gradients oracle(const Example& example, const Op::Inputs& inputs) {
  const Op::Problem& p = example.problem;
  const Pairs pairs(example, inputs);
  const double scale = static_cast<float>(p.scale_value);
  const std::int64_t group = p.group();
  const auto at = [](const Extents& e, std::int64_t b, std::int64_t n, std::int64_t s) {
    return static_cast<std::size_t>(((b * e.heads + n) * e.seq + s) * e.dim);
  };
  const auto sized = [](const Extents& e) {
    return std::vector<double>(static_cast<std::size_t>(e.batch * e.heads * e.seq * e.dim), 0.0);
  };
  Gradients g{sized(query_extents(p)), sized(key_extents(p)), sized(value_extents(p))};
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        const double row_term = pairs.row_term(b, n, i);
        for (std::int64_t j = 0; j < p.seq_kv; ++j) {
          const double prob = pairs.prob(b, n, i, j);
          if (prob == 0) continue;
          const double dscore = prob * (pairs.dprob(b, n, i, j) - row_term);
          double* const dq = &g.dq[at(query_extents(p), b, n, i)];
          double* const dk = &g.dk[at(key_extents(p), b, n / group, j)];
          double* const dv = &g.dv[at(value_extents(p), b, n / group, j)];
          for (std::int64_t d = 0; d < p.head_dim; ++d) {
            dq[d] += scale * dscore * pairs.key(b, n, j, d);
            dk[d] += scale * dscore * pairs.query(b, n, i, d);
          }
          for (std::int64_t d = 0; d < p.head_dim_v; ++d) dv[d] += prob * pairs.dy(b, n, i, d);
        }
      }
  return g;
}

std::vector<double> values(const Tensor& tensor, spec::Layout layout, const Extents& e) {
  const HeadIndex index(tensor, layout, e);
  std::vector<double> result;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) result.push_back(tensor.load(index(b, n, s, d)));
  return result;
}

Gradients values(const Op::Problem& p, const Op::Outputs& outputs) {
  return {values(outputs.dq, p.input_layout, query_extents(p)),
          values(outputs.dk, p.input_layout, key_extents(p)),
          values(outputs.dv, p.input_layout, value_extents(p))};
}

double error(const std::vector<double>& actual, const std::vector<double>& expected) {
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double difference = std::abs(actual[k] - expected[k]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                   : std::max(worst, difference);
    largest = std::max(largest, std::abs(expected[k]));
  }
  return worst == 0 ? 0 : worst / largest;
}

}  // namespace assay::test
