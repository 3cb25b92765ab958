#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/spec/at.hpp"
#include "scores.hpp"

namespace assay::conformance::exact_case_test {
namespace {

using spec::DType;
using spec::Origin;
using spec::Rounding;
using Values = std::vector<float>;

using spec::at;

/// The operands of one case, row by row as `spec::Extents::row` counts them, and the sums of its
/// outputs. Query and key have their rope part behind them.
class Run {
 public:
  Run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs);
  Op::Outputs outputs();

 private:
  using Row = spec::RowPosition;
  Values dense(const spec::Tensor& main, const std::optional<spec::Tensor>& rope,
               spec::Extents extents) const;
  float dot(const float* a, const float* b, std::int64_t size) const;
  void accumulate(float* sums, const float* row, float factor, std::int64_t size) const;
  float product(float x) const;
  float stage(float x) const;
  float score(const Row& row, std::int64_t j) const;
  Values probabilities(const Row& row) const;
  void online_statistics(const Values& scores, float& maximum, float& sum) const;
  void add(const Row& row);
  void write(spec::Tensor& tensor, spec::Extents extents, const Values& sums, float factor,
             std::int64_t first_column = 0) const;
  std::int64_t width() const { return p_.head_dim + p_.head_dim_rope; }
  const float* query(const Row& row) const {
    return &query_[at(queries_.row(row.b, row.n, row.s) * width())];
  }
  std::int64_t key_row(const Row& row, std::int64_t j) const;

  const Kernel& kernel_;
  const Case<Op>& c_;
  const Op::Problem& p_;
  const Op::Inputs& inputs_;
  Scores scores_;
  spec::Extents queries_, keys_;
  float scale_, kept_factor_;
  Values query_, key_, value_, dy_, output_, dq_, dk_, dv_;
};

Run::Run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs)
    : kernel_(kernel),
      c_(c),
      p_(c.problem),
      inputs_(inputs),
      scores_(kernel.bug, p_, inputs),
      queries_(query_extents(p_)),
      keys_(key_extents(p_)),
      scale_(static_cast<float>(p_.scale_value)),
      kept_factor_(1 / static_cast<float>(p_.keep_prob)),
      query_(dense(inputs.query, inputs.query_rope, queries_)),
      key_(dense(inputs.key, inputs.key_rope, keys_)),
      value_(dense(inputs.value, std::nullopt, value_extents(p_))),
      dy_(dense(inputs.dy, std::nullopt, dy_extents(p_))),
      output_(dense(inputs.attention_in, std::nullopt, dy_extents(p_))),
      dq_(query_.size()),
      dk_(key_.size()),
      dv_(value_.size()) {
  if (kernel.bug == Bug::customary_scale) scale_ = 1 / std::sqrt(static_cast<float>(p_.head_dim));
  if (kernel.bug == Bug::scale_magnitude) scale_ = std::abs(scale_);
}

Values Run::dense(const spec::Tensor& main, const std::optional<spec::Tensor>& rope,
                  spec::Extents e) const {
  const spec::HeadIndex index(main, p_.input_layout, e);
  const std::int64_t rows = e.rows(), dim = e.dim;
  std::optional<spec::HeadIndex> rope_index;
  if (rope) {
    e.dim = p_.head_dim_rope;
    rope_index.emplace(*rope, p_.input_layout, e);
  }
  Values values;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto [b, n, s] = e.position(r);
    for (std::int64_t d = 0; d < dim; ++d)
      values.push_back(static_cast<float>(main.load(index(b, n, s, d))));
    for (std::int64_t d = 0; rope && d < e.dim; ++d)
      values.push_back(static_cast<float>(rope->load((*rope_index)(b, n, s, d))));
  }
  return values;
}

std::int64_t Run::key_row(const Row& row, std::int64_t j) const {
  const std::int64_t kv =
      kernel_.bug == Bug::wrong_kv_head ? row.n % p_.heads_kv : row.n / p_.group();
  const bool early = kernel_.bug == Bug::offset_after_empty && row.b > 0 &&
                     p_.length_kv(row.b - 1) == 0 && keys_.start(row.b) > 0;
  return keys_.row(row.b, kv, j) - (early ? 1 : 0);
}

/// tf32 keeps 11 bits of an operand.
float Run::product(float x) const {
  if (kernel_.bug != Bug::tf32_products && kernel_.numerics.product == spec::Product32::exact)
    return x;
  if (x == 0) return x;
  const int exponent = std::ilogb(x) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
}

float Run::dot(const float* a, const float* b, std::int64_t size) const {
  float sum = 0;
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t d = kernel_.backwards ? size - 1 - k : k;
    sum += product(a[d]) * product(b[d]);
  }
  return sum;
}

void Run::accumulate(float* sums, const float* row, float factor, std::int64_t size) const {
  if (factor == 0) return;
  for (std::int64_t d = 0; d < size; ++d) {
    sums[d] += product(factor) * product(row[d]);
    if (kernel_.bug == Bug::bf16_accumulation)
      sums[d] = static_cast<float>(cast(sums[d], DType::bf16, Rounding::rne));
  }
}

float Run::stage(float x) const {
  const Rounding declared = kernel_.numerics.round_stage;
  const Rounding nearest = kernel_.ties_away ? Rounding::rna : Rounding::rne;
  const Rounding rounding = kernel_.bug == Bug::truncating_stage ? Rounding::rtz
                            : declared == Rounding::unknown      ? nearest
                                                                 : declared;
  return static_cast<float>(cast(x, kernel_.numerics.stage, rounding));
}

float Run::score(const Row& row, std::int64_t j) const {
  const float* key = &key_[at(key_row(row, j) * width())];
  float raw = dot(query(row), key, p_.head_dim);
  if (kernel_.bug != Bug::rope_ignored)
    raw += dot(query(row) + p_.head_dim, key + p_.head_dim, p_.head_dim_rope);
  const auto store = [&](float x) {
    return static_cast<float>(cast(x, kernel_.numerics.store_s, Rounding::rne));
  };
  if (kernel_.numerics.store_s == DType::fp32) return scores_.biased(raw, scale_, row, j);
  // What is stored is the sum that the bias is added to.
  const bool bias_first = p_.pse_type == 1;
  const float sum = store(bias_first ? raw : raw * scale_);
  return store(scores_.biased(sum, bias_first ? scale_ : 1.0f, row, j));
}

void Run::online_statistics(const Values& scores, float& maximum, float& sum) const {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float running = -infinity, total = 0;
  for (std::size_t first = 0; first < scores.size(); first += at(kernel_.tile)) {
    const std::size_t last = std::min(scores.size(), first + at(kernel_.tile));
    float next = running;
    for (std::size_t j = first; j < last; ++j) next = std::max(next, scores[j]);
    if (next == -infinity) continue;
    total *= running == -infinity ? 0.0f : std::exp(running - next);
    for (std::size_t j = first; j < last; ++j) total += std::exp(scores[j] - next);
    running = next;
  }
  if (running == -infinity) return;
  maximum = running;
  sum = total;
}

Values Run::probabilities(const Row& row) const {
  constexpr float excluded = -std::numeric_limits<float>::max();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::int64_t element = scores_.statistics_element(inputs_.softmax_max, row);
  auto maximum = static_cast<float>(inputs_.softmax_max.load(element));
  auto sum = static_cast<float>(inputs_.softmax_sum.load(element));
  Values scores(at(p_.length_kv(row.b))), result(scores.size());
  for (std::int64_t j = 0; j < p_.length_kv(row.b); ++j)
    scores[at(j)] = scores_.keeps(row.b, row.n, row.s, j) ? score(row, j) : -infinity;
  if (kernel_.numerics.stats == Origin::own) online_statistics(scores, maximum, sum);
  const float base2 = std::log2(std::exp(1.0f));
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (scores[j] == -infinity && kernel_.masking == Masking::skip) continue;
    const float x = scores[j] == -infinity ? excluded : scores[j];
    switch (kernel_.exponential) {
      case Exponential::plain:
        result[j] = std::exp(x - maximum) / sum;
        break;
      case Exponential::fused:
        result[j] = std::exp2(std::fma(x, base2, -(maximum * base2))) / sum;
        break;
      case Exponential::log_sum:
        result[j] = std::exp(x - (maximum + std::log(sum)));
        break;
      case Exponential::clamped:
        result[j] = std::max(std::exp(x - maximum), 0x1p-126f) / sum;
        break;
    }
    result[j] = static_cast<float>(cast(result[j], kernel_.numerics.store_p, Rounding::rne));
  }
  return result;
}

void Run::add(const Row& row) {
  const std::int64_t r = queries_.row(row.b, row.n, row.s), keys = p_.length_kv(row.b);
  const float* dy = &dy_[at(r * p_.head_dim_v)];
  const Values p = probabilities(row);
  Values dp(p.size()), kept(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (p[j] == 0) continue;
    const auto key = static_cast<std::int64_t>(j);
    kept[j] = scores_.survives(row.b, row.n, row.s, key) ? kept_factor_ : 0.0f;
    const float* value = &value_[at(key_row(row, key) * p_.head_dim_v)];
    const float factor =
        kernel_.bug == Bug::keep_missing_in_dp ? (kept[j] == 0 ? 0.0f : 1.0f) : kept[j];
    dp[j] = static_cast<float>(
        cast(dot(dy, value, p_.head_dim_v) * factor, kernel_.numerics.store_dp, Rounding::rne));
  }
  float delta = dot(dy, &output_[at(r * p_.head_dim_v)], p_.head_dim_v);
  if (kernel_.numerics.delta == Origin::own)
    delta = std::inner_product(p.begin(), p.end(), dp.begin(), 0.0f);
  if (kernel_.bug == Bug::row_term_missing) delta = 0;
  for (std::int64_t k = 0; k < keys; ++k) {
    const std::int64_t j = kernel_.backwards ? keys - 1 - k : k;
    const float prob = stage(p[at(j)] * kept[at(j)]);
    const float dscore = stage(p[at(j)] * (dp[at(j)] - delta));
    const std::int64_t key = key_row(row, j);
    accumulate(&dq_[at(r * width())], &key_[at(key * width())], dscore, width());
    accumulate(&dk_[at(key * width())], query(row), dscore, width());
    accumulate(&dv_[at(key * p_.head_dim_v)], dy, prob, p_.head_dim_v);
  }
}

void Run::write(spec::Tensor& tensor, spec::Extents e, const Values& sums, float factor,
                std::int64_t first_column) const {
  const spec::HeadIndex index(tensor, p_.input_layout, e);
  const Rounding declared = kernel_.numerics.round_out;
  Rounding rounding = declared == Rounding::unknown
                          ? (kernel_.ties_away ? Rounding::rna : Rounding::rne)
                          : declared;
  if (kernel_.bug == Bug::truncating_cast) rounding = Rounding::rtz;
  if (kernel_.bug == Bug::ties_swapped)
    rounding = rounding == Rounding::rna ? Rounding::rne : Rounding::rna;
  if (e.rows() == 0) return;
  const std::int64_t columns = static_cast<std::int64_t>(sums.size()) / e.rows();
  for (std::int64_t r = 0; r < e.rows(); ++r) {
    const auto [b, n, s] = e.position(r);
    for (std::int64_t d = 0; d < e.dim; ++d)
      tensor.store(index(b, n, s, d),
                   cast(sums[at(r * columns + first_column + d)] * factor, p_.dtype, rounding));
  }
}

Op::Outputs Run::outputs() {
  for (std::int64_t k = 0; k < queries_.rows(); ++k)
    add(queries_.position(kernel_.backwards ? queries_.rows() - 1 - k : k));
  const auto call = spec::call_of(p_, c_.entry_point, c_.product, c_.inputs, c_.outputs);
  Op::Outputs result{.dq = guarded_tensor(call.parameters.dq),
                     .dk = guarded_tensor(call.parameters.dk),
                     .dv = guarded_tensor(call.parameters.dv)};
  if (kernel_.bug == Bug::stale_last_row) {
    const auto last = at(width());
    std::fill(dq_.end() - static_cast<std::ptrdiff_t>(last), dq_.end(), 1.0f);
  }
  const float dk_scale = kernel_.bug == Bug::scale_missing_on_dk ? 1.0f : scale_;
  write(result.dq, queries_, dq_, scale_);
  write(result.dk, keys_, dk_, dk_scale);
  write(result.dv, value_extents(p_), dv_, 1.0f);
  if (p_.head_dim_rope == 0) return result;
  const bool unscaled = kernel_.bug == Bug::rope_unscaled;
  result.dq_rope = guarded_tensor(call.parameters.dq_rope);
  result.dk_rope = guarded_tensor(call.parameters.dk_rope);
  write(*result.dq_rope, query_rope_extents(p_), dq_, unscaled ? 1.0f : scale_, p_.head_dim);
  write(*result.dk_rope, key_rope_extents(p_), dk_, unscaled ? 1.0f : dk_scale, p_.head_dim);
  return result;
}

}  // namespace

double cast(double value, DType dtype, Rounding rounding) {
  const spec::FloatFormat format = spec::format_of(dtype);
  const std::uint32_t nearest = spec::round_to_bits(value, format);
  const double even = spec::from_bits(nearest, format);
  if (value == 0 || even == value || !std::isfinite(even)) return even;
  const double toward_zero =
      std::abs(even) > std::abs(value) ? spec::from_bits(nearest - 1, format) : even;
  if (rounding == Rounding::rtz) return toward_zero;
  if (rounding != Rounding::rna) return even;
  const std::uint32_t low = toward_zero == even ? nearest : nearest - 1;
  const double away = spec::from_bits(low + 1, format);
  return std::abs(away - value) <= std::abs(value - toward_zero) ? away : toward_zero;
}

Op::Outputs run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs) {
  return Run(kernel, c, inputs).outputs();
}

std::vector<Kernel> healthy_kernels(DType io) {
  const DType narrow = io == DType::fp32 ? DType::fp32 : io;
  std::vector<Kernel> kernels = {
      {.name = "even", .numerics = {.stage = io, .fused = false}},
      {.name = "ascend",
       .numerics = spec::numerics_preset("ascend_a2", io),
       .masking = Masking::replace,
       .backwards = true},
      {.name = "fused", .numerics = {.stage = io}, .exponential = Exponential::fused},
      {.name = "clamped",
       .numerics = {.stage = io},
       .exponential = Exponential::clamped,
       .backwards = true},
      {.name = "log_sum",
       .numerics = {.stage = io, .lse_form = true},
       .exponential = Exponential::log_sum},
      {.name = "fp32_staging",
       .numerics = {.round_out = Rounding::rna},
       .exponential = Exponential::fused},
      {.name = "recomputed",
       .numerics = {.stage = io, .stats = Origin::own, .delta = Origin::own},
       .tile = 7},
      {.name = "stored_dp",
       .numerics = {.store_dp = narrow, .stage = io, .stats = Origin::own, .delta = Origin::own},
       .backwards = true},
      {.name = "composed", .numerics = spec::numerics_preset("torch_composed_bf16", narrow)},
      {.name = "truncating",
       .numerics = {.stage = io, .round_stage = Rounding::rtz, .round_out = Rounding::rtz}},
      {.name = "unknown_ties",
       .numerics = {.stage = io, .round_stage = Rounding::unknown, .round_out = Rounding::unknown},
       .ties_away = true},
  };
  if (io == DType::fp32)
    kernels.push_back(
        {.name = "tf32", .numerics = {.product = spec::Product32::tf32, .fused = false}});
  return kernels;
}

}  // namespace assay::conformance::exact_case_test
