#include "lattice_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/reference/mask.hpp"

namespace assay::conformance::lattice_test {
namespace {

using spec::DType;
using spec::Origin;
using spec::Rounding;
using Values = std::vector<float>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The dense operands of one case and the sums of its outputs.
class Run {
 public:
  Run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs);
  Op::Outputs outputs();

 private:
  Values dense(const spec::Tensor& tensor, const spec::Extents& extents) const;
  float dot(const float* a, const float* b, std::int64_t size) const;
  void accumulate(float* sums, const float* row, float factor, std::int64_t size) const;
  float product(float x) const;
  float stage(float x) const;
  float score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  Values probabilities(std::int64_t b, std::int64_t n, std::int64_t i) const;
  void online_statistics(const Values& scores, float& maximum, float& sum) const;
  void row(std::int64_t b, std::int64_t n, std::int64_t i);
  void write(spec::Tensor& tensor, const spec::Extents& extents, const Values& sums,
             float factor) const;
  std::int64_t kv_of(std::int64_t n) const {
    return kernel_.bug == Bug::wrong_kv_head ? n % p_.heads_kv : n / p_.group();
  }
  const float* query(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return &query_[at(((b * p_.heads_q + n) * p_.seq_q + i) * p_.head_dim)];
  }
  std::int64_t key_row(std::int64_t b, std::int64_t n, std::int64_t j) const {
    return (b * p_.heads_kv + kv_of(n)) * p_.seq_kv + j;
  }

  const Kernel& kernel_;
  const Case<Op>& c_;
  const Op::Problem& p_;
  reference::Mask mask_;
  float scale_;
  Values query_, key_, value_, dy_, output_, dq_, dk_, dv_;
  const Op::Inputs& inputs_;
};

Run::Run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs)
    : kernel_(kernel),
      c_(c),
      p_(c.problem),
      mask_(p_, inputs.atten_mask ? &*inputs.atten_mask : nullptr),
      scale_(static_cast<float>(p_.scale_value)),
      query_(dense(inputs.query, query_extents(p_))),
      key_(dense(inputs.key, key_extents(p_))),
      value_(dense(inputs.value, value_extents(p_))),
      dy_(dense(inputs.dy, dy_extents(p_))),
      output_(dense(inputs.attention_in, dy_extents(p_))),
      dq_(query_.size()),
      dk_(key_.size()),
      dv_(value_.size()),
      inputs_(inputs) {
  if (kernel.bug == Bug::customary_scale) scale_ = 1 / std::sqrt(static_cast<float>(p_.head_dim));
  if (kernel.bug == Bug::scale_magnitude) scale_ = std::abs(scale_);
}

Values Run::dense(const spec::Tensor& tensor, const spec::Extents& e) const {
  const spec::HeadView view(tensor, p_.input_layout, e);
  Values values;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d)
          values.push_back(static_cast<float>(view(b, n, s, d)));
  return values;
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

bool Run::keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  if (kernel_.bug == Bug::mask_ignored) return true;
  if (kernel_.bug == Bug::last_key_dropped && j == p_.seq_kv - 1) return false;
  if (kernel_.bug == Bug::mask_off_by_one)
    return mask_.keeps(b, n, i, std::max<std::int64_t>(0, j - 1));
  return mask_.keeps(b, n, i, j);
}

float Run::score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  const float* key = &key_[at(key_row(b, n, j) * p_.head_dim)];
  const float raw = dot(query(b, n, i), key, p_.head_dim);
  return static_cast<float>(cast(raw * scale_, kernel_.numerics.store_s, Rounding::rne));
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

Values Run::probabilities(std::int64_t b, std::int64_t n, std::int64_t i) const {
  constexpr float excluded = -std::numeric_limits<float>::max();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const spec::Shape& stride = inputs_.softmax_max.strides;
  const std::int64_t element =
      inputs_.softmax_max.offset + b * stride[0] + n * stride[1] + i * stride[2];
  auto maximum = static_cast<float>(inputs_.softmax_max.load(element));
  auto sum = static_cast<float>(inputs_.softmax_sum.load(element));
  Values scores(at(p_.seq_kv)), result(at(p_.seq_kv));
  for (std::int64_t j = 0; j < p_.seq_kv; ++j)
    scores[at(j)] = keeps(b, n, i, j) ? score(b, n, i, j) : -infinity;
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

void Run::row(std::int64_t b, std::int64_t n, std::int64_t i) {
  const std::int64_t r = (b * p_.heads_q + n) * p_.seq_q + i;
  const float* dy = &dy_[at(r * p_.head_dim_v)];
  const Values p = probabilities(b, n, i);
  Values dp(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (p[j] == 0) continue;
    const auto row = at(key_row(b, n, static_cast<std::int64_t>(j)) * p_.head_dim_v);
    dp[j] = static_cast<float>(
        cast(dot(dy, &value_[row], p_.head_dim_v), kernel_.numerics.store_dp, Rounding::rne));
  }
  float delta = dot(dy, &output_[at(r * p_.head_dim_v)], p_.head_dim_v);
  if (kernel_.numerics.delta == Origin::own)
    delta = std::inner_product(p.begin(), p.end(), dp.begin(), 0.0f);
  if (kernel_.bug == Bug::row_term_missing) delta = 0;
  for (std::int64_t k = 0; k < p_.seq_kv; ++k) {
    const std::int64_t j = kernel_.backwards ? p_.seq_kv - 1 - k : k;
    const float prob = stage(p[at(j)]), dscore = stage(p[at(j)] * (dp[at(j)] - delta));
    const std::int64_t key = key_row(b, n, j);
    accumulate(&dq_[at(r * p_.head_dim)], &key_[at(key * p_.head_dim)], dscore, p_.head_dim);
    accumulate(&dk_[at(key * p_.head_dim)], query(b, n, i), dscore, p_.head_dim);
    accumulate(&dv_[at(key * p_.head_dim_v)], dy, prob, p_.head_dim_v);
  }
}

void Run::write(spec::Tensor& tensor, const spec::Extents& e, const Values& sums,
                float factor) const {
  const spec::HeadIndex index(tensor, p_.input_layout, e);
  const Rounding declared = kernel_.numerics.round_out;
  Rounding rounding = declared == Rounding::unknown
                          ? (kernel_.ties_away ? Rounding::rna : Rounding::rne)
                          : declared;
  if (kernel_.bug == Bug::truncating_cast) rounding = Rounding::rtz;
  if (kernel_.bug == Bug::ties_swapped)
    rounding = rounding == Rounding::rna ? Rounding::rne : Rounding::rna;
  std::size_t next = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d)
          tensor.store(index(b, n, s, d), cast(sums[next++] * factor, p_.dtype, rounding));
}

Op::Outputs Run::outputs() {
  for (std::int64_t b = 0; b < p_.batch; ++b)
    for (std::int64_t k = 0; k < p_.heads_q * p_.seq_q; ++k) {
      const std::int64_t r = kernel_.backwards ? p_.heads_q * p_.seq_q - 1 - k : k;
      row(b, r / p_.seq_q, r % p_.seq_q);
    }
  Op::Outputs result = make_outputs(c_);
  if (kernel_.bug == Bug::stale_last_row) {
    const auto last = at(p_.head_dim);
    std::fill(dq_.end() - static_cast<std::ptrdiff_t>(last), dq_.end(), 1.0f);
  }
  write(result.dq, query_extents(p_), dq_, scale_);
  write(result.dk, key_extents(p_), dk_, kernel_.bug == Bug::scale_missing_on_dk ? 1.0f : scale_);
  write(result.dv, value_extents(p_), dv_, 1.0f);
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

}  // namespace assay::conformance::lattice_test
