#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "assay/conformance/random.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::testing {

using Op = spec::FlashAttentionScoreGrad;

/// What a small kernel of the tests does; the defaults are healthy.
struct KernelPlan {
  std::function<float(float)> stage = [](float x) { return x; };
  std::function<float(float)> cast = [](float x) { return x; };
  float dk_scale = 1;        ///< factor of dk beside scale_value
  bool row_term = true;
  std::int64_t skipped_key = -1;
};

inline float to_nearest_bf16(float x) {
  return static_cast<float>(spec::round_to(static_cast<double>(x), spec::bf16_format));
}

/// Gradients in (batch, heads, seq, dim) order.
struct Gradients {
  std::vector<float> dq, dk, dv;
};

inline std::vector<double> dense(const spec::Tensor& tensor, spec::Layout layout,
                                 const spec::Extents& e) {
  std::vector<double> values;
  const spec::HeadView view(tensor, layout, e);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) values.push_back(view(b, n, s, d));
  return values;
}

/// Row-wise fp32 gradient: one chain a product, in ascending order.
inline Gradients run_kernel(const Op::Problem& p, const Op::Inputs& inputs, const KernelPlan& plan) {
  const auto q = dense(inputs.query, p.input_layout, query_extents(p));
  const auto k = dense(inputs.key, p.input_layout, key_extents(p));
  const auto v = dense(inputs.value, p.input_layout, value_extents(p));
  const auto g = dense(inputs.dy, p.input_layout, dy_extents(p));
  const auto o = dense(inputs.attention_in, p.input_layout, dy_extents(p));
  const spec::Extents statistics{p.batch, p.heads_q, p.seq_q, spec::statistics_replicas};
  const auto m = dense(inputs.softmax_max, spec::Layout::bnsd, statistics);
  const auto z = dense(inputs.softmax_sum, spec::Layout::bnsd, statistics);
  const reference::Mask mask(p, inputs.atten_mask ? &*inputs.atten_mask : nullptr);
  const auto scale = static_cast<float>(p.scale_value);
  Gradients r{std::vector<float>(q.size()), std::vector<float>(k.size()),
              std::vector<float>(v.size())};
  const auto at = [](const std::vector<double>& x, std::int64_t i) {
    return static_cast<float>(x[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        const std::int64_t row = (b * p.heads_q + n) * p.seq_q + i;
        float delta = 0;
        for (std::int64_t d = 0; d < p.head_dim_v; ++d)
          delta += at(g, row * p.head_dim_v + d) * at(o, row * p.head_dim_v + d);
        for (std::int64_t j = 0; j < p.seq_kv; ++j) {
          if (!mask.keeps(b, n, i, j) || j == plan.skipped_key) continue;
          const std::int64_t key = (b * p.heads_kv + n / p.group()) * p.seq_kv + j;
          float score = 0, dprob = 0;
          for (std::int64_t d = 0; d < p.head_dim; ++d)
            score += at(q, row * p.head_dim + d) * at(k, key * p.head_dim + d);
          for (std::int64_t d = 0; d < p.head_dim_v; ++d)
            dprob += at(g, row * p.head_dim_v + d) * at(v, key * p.head_dim_v + d);
          const std::int64_t lane = row * spec::statistics_replicas;
          const float prob = std::exp(score * scale - at(m, lane)) / at(z, lane);
          const float ds = plan.stage((dprob - (plan.row_term ? delta : 0)) * prob);
          const float pd = plan.stage(prob);
          for (std::int64_t d = 0; d < p.head_dim; ++d) {
            r.dq[static_cast<std::size_t>(row * p.head_dim + d)] += ds * at(k, key * p.head_dim + d);
            r.dk[static_cast<std::size_t>(key * p.head_dim + d)] += ds * at(q, row * p.head_dim + d);
          }
          for (std::int64_t d = 0; d < p.head_dim_v; ++d)
            r.dv[static_cast<std::size_t>(key * p.head_dim_v + d)] +=
                pd * at(g, row * p.head_dim_v + d);
        }
      }
  for (float& x : r.dq) x = plan.cast(x * scale);
  for (float& x : r.dk) x = plan.cast(x * scale * plan.dk_scale);
  for (float& x : r.dv) x = plan.cast(x);
  return r;
}

/// Normal inputs in layout BNSD with the statistics and the output of a forward.
inline Op::Inputs normal_inputs(const Op::Problem& p, std::uint64_t seed) {
  Op::Inputs inputs;
  const auto fill = [&](Stream which, const spec::Extents& extents) {
    spec::Tensor tensor = spec::contiguous_tensor(p.dtype, shape_of(p.input_layout, extents));
    const Random random = stream(seed, which);
    for (std::int64_t e = 0; e < spec::element_count(tensor.shape); ++e)
      tensor.store(e, random.normal(static_cast<std::uint64_t>(e)));
    return tensor;
  };
  inputs.query = fill(Stream::query, query_extents(p));
  inputs.key = fill(Stream::key, key_extents(p));
  inputs.value = fill(Stream::value, value_extents(p));
  inputs.dy = fill(Stream::dy, dy_extents(p));
  if (p.atten_mask == spec::MaskShape::compressed) {
    inputs.atten_mask = spec::contiguous_tensor(p.mask_dtype, mask_shape(p));
    for (std::int64_t r = 0; r < spec::compressed_mask_edge; ++r)
      for (std::int64_t c = r + 1; c < spec::compressed_mask_edge; ++c)
        inputs.atten_mask->store(r * spec::compressed_mask_edge + c, 1);
  }
  const auto forward = reference::blocked_forward(p, inputs);
  const spec::Shape statistics{p.batch, p.heads_q, p.seq_q, spec::statistics_replicas};
  inputs.softmax_max = spec::contiguous_tensor(spec::DType::fp32, statistics);
  inputs.softmax_sum = spec::contiguous_tensor(spec::DType::fp32, statistics);
  for (std::int64_t e = 0; e < spec::element_count(statistics); ++e) {
    const auto row = static_cast<std::size_t>(e / spec::statistics_replicas);
    inputs.softmax_max.store(e, forward.softmax_max[row]);
    inputs.softmax_sum.store(e, forward.softmax_sum[row]);
  }
  inputs.attention_in = spec::contiguous_tensor(p.dtype, shape_of(p.input_layout, dy_extents(p)));
  for (std::size_t e = 0; e < forward.attention_out.size(); ++e)
    inputs.attention_in.store(static_cast<std::int64_t>(e), forward.attention_out[e]);
  return inputs;
}

}  // namespace assay::conformance::testing
