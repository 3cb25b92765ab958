#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "assay/conformance/attention/forward.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::testing {

using Op = spec::FlashAttentionScoreGrad;

/// The options of a small kernel for the tests. The defaults give a correct kernel.
struct KernelPlan {
  std::function<float(float)> stage = [](float x) { return x; };
  std::function<float(float)> cast = [](float x) { return x; };
  float dk_scale = 1;  ///< factor of dk in addition to scale_value
  bool row_term = true;
  bool lse_form = false;  ///< computes P from one rounded number for each row
  std::function<double(double)> log = [](double x) { return std::log(x); };
  std::int64_t skipped_key = -1;
};

inline float to_nearest_bf16(float x) {
  return static_cast<float>(spec::round_to(static_cast<double>(x), spec::bf16_format));
}

/// The gradients, stored row by row in the order of Extents::row.
struct Gradients {
  std::vector<float> dq, dk, dv, dq_rope, dk_rope;
};

inline std::vector<double> dense(const spec::Tensor& tensor, spec::Layout layout,
                                 const spec::Extents& e) {
  std::vector<double> values;
  const spec::HeadView view(tensor, layout, e);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) values.push_back(view(b, n, s, d));
  return values;
}

/// All operands of the test kernel, stored row by row in the order of Extents::row.
struct ModelOperands {
  ModelOperands(const Op::Problem& p, const Op::Inputs& inputs)
      : query(dense(inputs.query, p.input_layout, query_extents(p))),
        key(dense(inputs.key, p.input_layout, key_extents(p))),
        value(dense(inputs.value, p.input_layout, value_extents(p))),
        dy(dense(inputs.dy, p.input_layout, dy_extents(p))),
        output(dense(inputs.attention_in, p.input_layout, dy_extents(p))),
        mask(p, inputs.atten_mask ? &*inputs.atten_mask : nullptr),
        bias(p, inputs.pse_shift ? &*inputs.pse_shift : nullptr),
        dropout(p, inputs.drop_mask ? &*inputs.drop_mask : nullptr) {
    // The tensors are contiguous (in TND packed), so the elements have the same order as the rows.
    for (std::int64_t row = 0; row < query_extents(p).rows(); ++row) {
      max.push_back(inputs.softmax_max.load(row * spec::statistics_replicas));
      sum.push_back(inputs.softmax_sum.load(row * spec::statistics_replicas));
    }
    if (p.head_dim_rope == 0) return;
    query_rope = dense(*inputs.query_rope, p.input_layout, query_rope_extents(p));
    key_rope = dense(*inputs.key_rope, p.input_layout, key_rope_extents(p));
  }

  std::vector<double> query, key, value, dy, output, max, sum, query_rope, key_rope;
  reference::Mask mask;
  reference::PositionBias bias;
  reference::Dropout dropout;
};

inline float model_dot(const std::vector<double>& a, std::int64_t row, const std::vector<double>& b,
                       std::int64_t other, std::int64_t dim) {
  float sum = 0;
  for (std::int64_t d = 0; d < dim; ++d)
    sum += static_cast<float>(a[static_cast<std::size_t>(row * dim + d)]) *
           static_cast<float>(b[static_cast<std::size_t>(other * dim + d)]);
  return sum;
}

inline void model_add(std::vector<float>& to, std::int64_t row, float factor,
                      const std::vector<double>& from, std::int64_t other, std::int64_t dim) {
  for (std::int64_t d = 0; d < dim; ++d)
    to[static_cast<std::size_t>(row * dim + d)] +=
        factor * static_cast<float>(from[static_cast<std::size_t>(other * dim + d)]);
}

/// Computes the gradients in fp32, row by row. Every dot product is one sum in ascending order.
inline Gradients run_kernel(const Op::Problem& p, const Op::Inputs& inputs,
                            const KernelPlan& plan) {
  const ModelOperands x(p, inputs);
  const spec::Extents queries = query_extents(p), keys = key_extents(p);
  const auto scale = static_cast<float>(p.scale_value);
  const float inverse_keep = 1 / static_cast<float>(p.keep_prob);
  Gradients r{std::vector<float>(x.query.size()), std::vector<float>(x.key.size()),
              std::vector<float>(x.value.size()), std::vector<float>(x.query_rope.size()),
              std::vector<float>(x.key_rope.size())};
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, i] = queries.position(row);
    const float delta = model_dot(x.dy, row, x.output, row, p.head_dim_v);
    for (std::int64_t j = 0; j < keys.length(b); ++j) {
      if (!x.mask.keeps(b, n, i, j) || j == plan.skipped_key) continue;
      const std::int64_t key = keys.row(b, n / p.group(), j);
      const float bias = static_cast<float>(x.bias.value(b, n, i, j));
      const float kappa = !p.has_dropout() ? 1 : x.dropout.keeps(b, n, i, j) ? inverse_keep : 0;
      float score = model_dot(x.query, row, x.key, key, p.head_dim);
      if (p.head_dim_rope > 0)
        score += model_dot(x.query_rope, row, x.key_rope, key, p.head_dim_rope);
      score = p.pse_type == 1 ? (score + bias) * scale : score * scale + bias;
      const float dprob = model_dot(x.dy, row, x.value, key, p.head_dim_v) * kappa;
      const auto k = static_cast<std::size_t>(row);
      const float prob =
          plan.lse_form
              ? std::exp(score - static_cast<float>(x.max[k] + plan.log(x.sum[k])))
              : std::exp(score - static_cast<float>(x.max[k])) / static_cast<float>(x.sum[k]);
      const float ds = plan.stage((dprob - (plan.row_term ? delta : 0)) * prob);
      model_add(r.dq, row, ds, x.key, key, p.head_dim);
      model_add(r.dk, key, ds, x.query, row, p.head_dim);
      model_add(r.dv, key, plan.stage(prob * kappa), x.dy, row, p.head_dim_v);
      if (p.head_dim_rope == 0) continue;
      model_add(r.dq_rope, row, ds, x.key_rope, key, p.head_dim_rope);
      model_add(r.dk_rope, key, ds, x.query_rope, row, p.head_dim_rope);
    }
  }
  for (auto* gradient : {&r.dq, &r.dq_rope, &r.dk_rope})
    for (float& g : *gradient) g = plan.cast(g * scale);
  for (float& g : r.dk) g = plan.cast(g * scale * plan.dk_scale);
  for (float& g : r.dv) g = plan.cast(g);
  return r;
}

/// Makes contiguous, normally distributed inputs, with the statistics and the output of a forward
/// pass. Dropout keeps an element if its normal random number is positive.
inline Op::Inputs normal_inputs(const Op::Problem& p, std::uint64_t seed) {
  Op::Inputs inputs;
  const auto filled = [&](Stream which, spec::DType dtype, const spec::Shape& shape) {
    spec::Tensor tensor = spec::contiguous_tensor(dtype, shape);
    const Random random = stream(seed, which);
    for (std::int64_t e = 0; e < spec::element_count(tensor.shape); ++e)
      tensor.store(e, random.normal(static_cast<std::uint64_t>(e)));
    return tensor;
  };
  const auto fill = [&](Stream which, const spec::Extents& extents) {
    return filled(which, p.dtype, shape_of(p.input_layout, extents));
  };
  inputs.query = fill(Stream::query, query_extents(p));
  inputs.key = fill(Stream::key, key_extents(p));
  inputs.value = fill(Stream::value, value_extents(p));
  inputs.dy = fill(Stream::dy, dy_extents(p));
  if (p.head_dim_rope > 0) {
    inputs.query_rope = fill(Stream::mask, query_rope_extents(p));
    inputs.key_rope = fill(Stream::sampling, key_rope_extents(p));
  }
  if (p.pse_shift != spec::PseShape::absent)
    inputs.pse_shift = filled(Stream::sampling, pse_dtype(p), pse_shape(p));
  if (p.drop_mask != spec::DropMask::absent) {
    inputs.drop_mask = spec::contiguous_tensor(spec::DType::uint8, drop_mask_shape(p));
    const Random random = stream(seed, Stream::mask);
    for (std::size_t e = 0; e < inputs.drop_mask->bytes.size(); ++e)
      inputs.drop_mask->bytes[e] = static_cast<std::byte>(random.bits(e) & 0xff);
  }
  if (p.atten_mask == spec::MaskShape::compressed) {
    inputs.atten_mask = spec::contiguous_tensor(p.mask_dtype, mask_shape(p));
    for (std::int64_t r = 0; r < spec::compressed_mask_edge; ++r)
      for (std::int64_t c = r + 1; c < spec::compressed_mask_edge; ++c)
        inputs.atten_mask->store(r * spec::compressed_mask_edge + c, 1);
  }
  const auto forward = blocked_forward(p, inputs);
  inputs.softmax_max = spec::contiguous_tensor(spec::DType::fp32, statistics_shape(p));
  inputs.softmax_sum = inputs.softmax_max;
  for (std::int64_t e = 0; e < spec::element_count(statistics_shape(p)); ++e) {
    const auto row = static_cast<std::size_t>(e / spec::statistics_replicas);
    inputs.softmax_max.store(e, forward.softmax_max[row]);
    inputs.softmax_sum.store(e, forward.softmax_sum[row]);
  }
  inputs.attention_in = spec::contiguous_tensor(p.dtype, shape_of(p.input_layout, dy_extents(p)));
  const spec::Extents outputs = dy_extents(p);
  const spec::HeadIndex index(inputs.attention_in, p.input_layout, outputs);
  for (std::size_t e = 0; e < forward.attention_out.size(); ++e) {
    const auto element = static_cast<std::int64_t>(e);
    const spec::RowPosition row = outputs.position(element / outputs.dim);
    inputs.attention_in.store(index(row.b, row.n, row.s, element % outputs.dim),
                              forward.attention_out[e]);
  }
  return inputs;
}

}  // namespace assay::conformance::testing
