#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>

namespace assay::mutants {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::HeadView;
using spec::PseShape;
using spec::Tensor;
using Problem = Op::Problem;

constexpr double largest_float = std::numeric_limits<float>::max();

Tensor tensor_of(const spec::Parameter& parameter, double fill) {
  const std::int64_t count =
      spec::storage_elements(parameter.shape, parameter.strides, parameter.offset);
  Tensor tensor = {
      .dtype = parameter.dtype,
      .shape = parameter.shape,
      .strides = parameter.strides,
      .offset = parameter.offset,
      .bytes = std::vector<std::byte>(static_cast<std::size_t>(count * size_of(parameter.dtype)))};
  for (std::int64_t k = 0; k < count; ++k) tensor.store(k, fill);
  return tensor;
}

/// Stores value(k) as the k-th element of the view.
void fill(Tensor& tensor, const std::function<double(std::int64_t k)>& value) {
  std::int64_t k = 0;
  for (const std::int64_t element : viewed_elements(tensor)) tensor.store(element, value(k++));
}

/// Returns the bias of a head for a signed distance. Every data type can represent its value.
double bias_at(std::int64_t head, std::int64_t distance) {
  const auto mixed =
      static_cast<std::uint64_t>(head * 7919 + distance + 4096) * 0x9e3779b97f4a7c15u;
  return static_cast<double>(mixed >> 59) / 16 - 1;
}

bool is_kept(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t j) {
  const std::int64_t keys = p.length_kv(b), o = keys - p.length_q(b);
  const auto non_empty = [&](std::int64_t at) { return p.length_q(at) != 0; };
  std::int64_t first = 0, last = p.batch - 1;
  while (first + 1 < p.batch && !non_empty(first)) ++first;
  while (last > 0 && !non_empty(last)) --last;
  const bool is_band =
      p.sparse_mode == 4 || (p.sparse_mode == 7 && b == last) || (p.sparse_mode == 8 && b == first);
  std::int64_t lo = 0, hi = std::min(keys, i + o + 1);
  if (is_band) {
    lo = std::max<std::int64_t>(0, i + o - p.pre_tokens);
    hi = std::min(keys, i + o + p.next_tokens + 1);
  } else if (p.sparse_mode == 2 || p.sparse_mode == 8) {
    hi = std::min(keys, i + 1);
  } else if (p.sparse_mode == 5 || p.sparse_mode == 6) {
    hi = std::max(hi, p.prefix[static_cast<std::size_t>(b)]);
  }
  return lo <= j && j < hi;
}

/// Creates the tensors of a sample step by step.
class Builder {
 public:
  Builder(const Geometry& geometry, spec::DType dtype, std::uint64_t seed) : random_(seed) {
    sample_.problem = geometry.problem;
    sample_.problem.dtype = dtype;
    call_ = call_of(sample_.problem, geometry.entry_point, spec::Product::a2, geometry.inputs,
                    geometry.outputs);
    draw_tensors();
    draw_positions();
    list_drop_factors();
    compute();
  }
  Sample take() { return std::move(sample_); }

 private:
  const Problem& p() const { return sample_.problem; }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  Tensor drawn(const spec::Parameter& parameter, double low, double high) {
    Tensor tensor = tensor_of(parameter, 7);
    fill(tensor, [&](std::int64_t) { return uniform(low, high); });
    return tensor;
  }

  void draw_tensors() {
    const Op::Parameters& t = call_.parameters;
    Op::Inputs& in = sample_.inputs;
    in.query = drawn(t.query, -1, 1), in.key = drawn(t.key, -1, 1);
    in.value = drawn(t.value, -1, 1), in.dy = drawn(t.dy, -1, 1);
    in.attention_in = tensor_of(t.attention_in, 7);
    in.softmax_max = tensor_of(t.softmax_max, 7), in.softmax_sum = tensor_of(t.softmax_sum, 7);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Op::Outputs& out = sample_.outputs;
    out.dq = tensor_of(t.dq, nan), out.dk = tensor_of(t.dk, nan), out.dv = tensor_of(t.dv, nan);
    if (p().head_dim_rope == 0) return;
    in.query_rope = drawn(t.query_rope, -1, 1), in.key_rope = drawn(t.key_rope, -1, 1);
    out.dq_rope = tensor_of(t.dq_rope, nan), out.dk_rope = tensor_of(t.dk_rope, nan);
  }

  void draw_positions() {
    const Op::Parameters& t = call_.parameters;
    Op::Inputs& in = sample_.inputs;
    if (t.pse_shift.present) {
      const double most = p().pse_type >= 2 ? 1.25 : 1;  // slopes have either sign and may exceed 1
      in.pse_shift = drawn(t.pse_shift, -most, most);
      if (is_compressed()) fill(*in.pse_shift, [&](std::int64_t k) { return compressed_bias(k); });
    }
    if (t.drop_mask.present) {
      in.drop_mask = tensor_of(t.drop_mask, 0);
      fill(*in.drop_mask, [&](std::int64_t) {
        return p().has_dropout() ? std::floor(uniform(0, 256))
                                 : 255;  // a bit is 1 with the probability keep_prob
      });
    }
    if (!t.atten_mask.present) return;
    in.atten_mask = tensor_of(t.atten_mask, 0);
    const std::int64_t columns = t.atten_mask.shape.back();
    const std::int64_t rows = t.atten_mask.shape.end()[-2];
    fill(*in.atten_mask, [&](std::int64_t k) -> double {
      const std::int64_t c = k % columns, r = k / columns % rows;
      if (spec::is_compressed(p().atten_mask))
        return r < spec::compressed_mask_edge ? c > r : c >= spec::compressed_prefix_rows;
      if (p().sparse_mode == 5) return !is_kept(p(), k / columns / rows, r, c);
      return uniform(0, 1) < 0.3;
    });
  }

  bool is_compressed() const {
    return p().pse_shift == PseShape::bnhs || p().pse_shift == PseShape::one_nhs;
  }
  double compressed_bias(std::int64_t k) const {
    const std::int64_t columns = p().seq_kv, rows = spec::compressed_pse_rows;
    return bias_at(k / columns / rows, columns - rows + k / columns % rows - k % columns);
  }

  /// Lists the dropout factors in the documented order: sequence by sequence, head by head, row by
  /// row.
  void list_drop_factors() {
    for (std::int64_t e = 0; e < score_count(p()); ++e) {
      double factor = 1;
      if (p().has_dropout()) {
        const auto byte = static_cast<unsigned>(sample_.inputs.drop_mask->load(e / 8));
        factor = (byte >> (e % 8)) % 2 == 1 ? 1 / double{static_cast<float>(p().keep_prob)} : 0;
      }
      drop_factors_.push_back(factor);
    }
  }

  /// Returns the element of the bias tensor pse_shift at an index with one entry per axis.
  double pse_at(std::initializer_list<std::int64_t> index) const {
    const Tensor& pse = *sample_.inputs.pse_shift;
    std::int64_t element = pse.offset;
    std::size_t axis = 0;
    for (const std::int64_t x : index) element += x * pse.strides[axis++];
    return pse.load(element);
  }

  double outer_bias(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    switch (p().pse_shift) {
      case PseShape::bnss:
        return pse_at({b, n, i, j});
      case PseShape::bn1s:
        return pse_at({b, n, 0, j});
      case PseShape::one_nss:
        return pse_at({0, n, i, j});
      case PseShape::bnhs:
        return bias_at(b * p().heads_q + n, i - j);
      case PseShape::one_nhs:
        return bias_at(n, i - j);
      case PseShape::packed_bn1s: {
        std::int64_t keys = 0;
        for (std::int64_t earlier = 0; earlier < b; ++earlier) keys += p().length_kv(earlier);
        return pse_at({p().heads_q * keys + n * p().length_kv(b) + j});
      }
      default:
        return pse_at({first_score_ + i * p().length_kv(b) + j});
    }
  }

  double score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j, double logit) const {
    const double scale = static_cast<float>(p().scale_value);
    if (p().pse_shift == PseShape::absent) return scale * logit;
    if (p().pse_type == 0) return scale * logit + outer_bias(b, n, i, j);
    if (p().pse_type == 1) return scale * (logit + outer_bias(b, n, i, j));
    const double slope = p().pse_shift == PseShape::slopes_n ? pse_at({n}) : pse_at({b, n});
    std::int64_t from = 0, to = 0;
    if (!p().q_start_idx.empty() && !p().kv_start_idx.empty() && (p().sparse_mode != 8 || b == 0))
      from = p().q_start_idx[0], to = p().kv_start_idx[0];
    const auto distance = static_cast<double>(std::abs((j + to) - (i + from)));
    return scale * logit - slope * (p().pse_type == 2 ? distance : std::sqrt(distance));
  }

  bool sees(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (!sample_.inputs.atten_mask) return true;
    if (p().sparse_mode >= 2 && p().sparse_mode != 5) return is_kept(p(), b, i, j);
    const Tensor& mask = *sample_.inputs.atten_mask;
    std::int64_t element = mask.offset + i * mask.strides.end()[-2] + j * mask.strides.end()[-1];
    if (p().atten_mask == spec::MaskShape::b_one_ss || p().atten_mask == spec::MaskShape::bnss)
      element += b * mask.strides[0];
    if (p().atten_mask == spec::MaskShape::bnss) element += n * mask.strides[1];
    return mask.load(element) == 0;
  }

  void compute() {
    const spec::Layout layout = p().input_layout;
    for (const spec::Extents& e : {query_extents(p()), key_extents(p()), value_extents(p()),
                                   query_rope_extents(p()), key_rope_extents(p())})
      sample_.expected.push_back(
          {e, std::vector<double>(static_cast<std::size_t>(e.rows() * e.dim))});
    if (p().head_dim_rope == 0) sample_.expected.resize(3);
    Op::Inputs& in = sample_.inputs;
    views_ = {
        HeadView(in.query, layout, query_extents(p())), HeadView(in.key, layout, key_extents(p())),
        HeadView(in.value, layout, value_extents(p())), HeadView(in.dy, layout, dy_extents(p())),
        HeadView(in.attention_in, layout, dy_extents(p()))};
    if (in.query_rope) {
      views_.emplace_back(*in.query_rope, layout, query_rope_extents(p()));
      views_.emplace_back(*in.key_rope, layout, key_rope_extents(p()));
    }
    max_elements_ = viewed_elements(in.softmax_max),
    sum_elements_ = viewed_elements(in.softmax_sum);
    for (std::int64_t b = 0; b < p().batch; ++b)
      for (std::int64_t n = 0; n < p().heads_q; ++n) {
        for (std::int64_t i = 0; i < p().length_q(b); ++i) compute_row(b, n, i);
        first_score_ += p().length_q(b) * p().length_kv(b);
      }
  }

  enum View { query, key, value, dy, attention, query_rope, key_rope };
  double dot(View left, const spec::RowPosition& a, View right, const spec::RowPosition& c) const {
    double sum = 0;
    for (std::int64_t d = 0; d < views_[left].extents().dim; ++d)
      sum += views_[left](a.b, a.n, a.s, d) * views_[right](c.b, c.n, c.s, d);
    return sum;
  }
  /// Adds `factor` times a row of an input to a row of a gradient.
  void add(std::size_t gradient, const spec::RowPosition& to, double factor, View view,
           const spec::RowPosition& from) {
    const spec::Extents& e = sample_.expected[gradient].extents;
    for (std::int64_t d = 0; d < e.dim; ++d)
      sample_.expected[gradient]
          .values[static_cast<std::size_t>(e.row(to.b, to.n, to.s) * e.dim + d)] +=
          factor * views_[view](from.b, from.n, from.s, d);
  }

  void compute_row(std::int64_t b, std::int64_t n, std::int64_t i) {
    const std::int64_t keys = p().length_kv(b), kv = n * p().heads_kv / p().heads_q;
    const spec::RowPosition row = {b, n, i};
    std::vector<double> scores(static_cast<std::size_t>(keys), -largest_float);
    for (std::int64_t j = 0; j < keys; ++j) {
      if (!sees(b, n, i, j)) continue;
      double logit = dot(query, row, key, {b, kv, j});
      if (p().head_dim_rope > 0) logit += dot(query_rope, row, key_rope, {b, kv, j});
      scores[static_cast<std::size_t>(j)] = score(b, n, i, j, logit);
    }
    const auto factors = std::span<const double>(drop_factors_)
                             .subspan(static_cast<std::size_t>(first_score_ + i * keys),
                                      static_cast<std::size_t>(keys));
    const std::vector<double> probabilities = forward_row(row, scores, factors);
    const double row_term = dot(dy, row, attention, row);
    const double scale = static_cast<float>(p().scale_value);
    for (std::int64_t j = 0; j < keys; ++j) {
      const spec::RowPosition at = {b, kv, j};
      const auto k = static_cast<std::size_t>(j);
      const double ds =
          scale * probabilities[k] * (dot(dy, row, value, at) * factors[k] - row_term);
      add(0, row, ds, key, at);
      add(1, at, ds, query, row);
      add(2, at, probabilities[k] * factors[k], dy, row);
      if (p().head_dim_rope == 0) continue;
      add(3, row, ds, key_rope, at);
      add(4, at, ds, query_rope, row);
    }
  }

  /// Stores the softmax statistics and the output of the row, and returns the probabilities of the
  /// row.
  std::vector<double> forward_row(const spec::RowPosition& row, std::vector<double> scores,
                                  std::span<const double> factors) {
    double top = -largest_float, sum = 0;
    for (const double s : scores) top = std::max(top, s);
    const bool is_dead = top == -largest_float;
    const bool is_keyless = scores.empty();  // the documents' software writes (0, 0)
    for (double& s : scores) sum += s = s == -largest_float ? 0 : std::exp(s - top);
    if (is_dead) sum = largest_float;
    store_statistics(row, is_keyless ? 0 : top, is_keyless ? 0 : sum);
    for (double& s : scores) s /= sum;
    Tensor& output = sample_.inputs.attention_in;
    const spec::HeadIndex index(output, p().input_layout, dy_extents(p()));
    for (std::int64_t d = 0; d < p().head_dim_v; ++d) {
      double mean = 0;
      for (std::size_t j = 0; j < scores.size(); ++j)
        mean += scores[j] * factors[j] *
                views_[value](row.b, row.n * p().heads_kv / p().heads_q,
                              static_cast<std::int64_t>(j), d);
      output.store(index(row.b, row.n, row.s, d), mean);
    }
    return scores;
  }

  void store_statistics(const spec::RowPosition& row, double top, double sum) {
    const spec::Extents e = query_extents(p());
    std::int64_t position = rows_done_++;
    if (p().statistics_order == spec::StatisticsOrder::tokens_first)
      position = (e.start(row.b) + row.s) * p().heads_q + row.n;
    for (std::int64_t r = 0; r < spec::statistics_replicas; ++r) {
      const auto k = static_cast<std::size_t>(position * spec::statistics_replicas + r);
      sample_.inputs.softmax_max.store(max_elements_[k], top);
      sample_.inputs.softmax_sum.store(sum_elements_[k], sum);
    }
  }

  std::mt19937_64 random_;
  Sample sample_;
  spec::Call<Op> call_;
  std::vector<double> drop_factors_;
  std::vector<HeadView> views_;
  std::vector<std::int64_t> max_elements_, sum_elements_;
  std::int64_t first_score_ = 0, rows_done_ = 0;
};

double error_of(const ExactGradient& exact, const Tensor& actual, spec::Layout layout) {
  const HeadView view(actual, layout, exact.extents);
  double error = 0, largest = 1e-30;
  std::size_t k = 0;
  for (std::int64_t row = 0; row < exact.extents.rows(); ++row) {
    const spec::RowPosition at = exact.extents.position(row);
    for (std::int64_t d = 0; d < exact.extents.dim; ++d, ++k) {
      const double value = view(at.b, at.n, at.s, d);
      if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
      error = std::max(error, std::abs(value - exact.values[k]));
      largest = std::max(largest, std::abs(exact.values[k]));
    }
  }
  return error / largest;
}

}  // namespace

Sample sample_of(const Geometry& geometry, spec::DType dtype, std::uint64_t seed) {
  return Builder(geometry, dtype, seed).take();
}

double worst_error(const Sample& sample, const Op::Outputs& outputs) {
  const spec::Layout layout = sample.problem.input_layout;
  double worst = 0;
  std::size_t k = 0;
  for (const Tensor* tensor : {&outputs.dq, &outputs.dk, &outputs.dv})
    worst = std::max(worst, error_of(sample.expected[k++], *tensor, layout));
  for (const std::optional<Tensor>* tensor : {&outputs.dq_rope, &outputs.dk_rope})
    if (*tensor) worst = std::max(worst, error_of(sample.expected[k++], **tensor, layout));
  return worst;
}

}  // namespace assay::mutants
