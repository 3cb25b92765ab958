#include "assay/spec/operators/flash_attention_score_grad.hpp"

#include <stdexcept>

namespace assay::spec {
namespace {

using Op = FlashAttentionScoreGrad;

/// Elements between the end of one innermost row and the next, and before the first, of a padded view.
constexpr std::int64_t padding = 3;

Parameter parameter(DType dtype, const Shape& shape, Striding striding) {
  Parameter result{.present = true, .dtype = dtype, .shape = shape};
  apply_striding(result, striding);
  return result;
}

}  // namespace

Shape mask_shape(const Op::Problem& p) {
  switch (p.atten_mask) {
    case MaskShape::ss: return {p.seq_q, p.seq_kv};
    case MaskShape::one_one_ss: return {1, 1, p.seq_q, p.seq_kv};
    case MaskShape::b_one_ss: return {p.batch, 1, p.seq_q, p.seq_kv};
    case MaskShape::bnss: return {p.batch, p.heads_q, p.seq_q, p.seq_kv};
    case MaskShape::compressed: return {compressed_mask_edge, compressed_mask_edge};
    case MaskShape::absent: break;
  }
  throw std::invalid_argument("mask_shape: the problem has no mask");
}

void apply_striding(Parameter& parameter, Striding striding) {
  const Shape& shape = parameter.shape;
  parameter.strides = contiguous_strides(shape);
  parameter.offset = 0;
  if (shape.size() < 2 || striding == Striding::contiguous) return;
  Shape storage = shape;
  if (striding == Striding::padded) {
    storage.back() += padding;
    parameter.strides = contiguous_strides(storage);
    parameter.offset = padding;
    return;
  }
  std::swap(storage[0], storage[1]);
  parameter.strides = contiguous_strides(storage);
  std::swap(parameter.strides[0], parameter.strides[1]);
}

Call<Op> call_of(const Op::Problem& p, FlashSurface surface, Product product, Striding inputs,
                 Striding outputs) {
  const auto head_tensor = [&](const Extents& extents, Striding striding) {
    return parameter(p.dtype, shape_of(p.input_layout, extents), striding);
  };
  Call<Op> call{.surface = surface, .product = product, .parameters = {}, .attributes = {}};
  Op::Parameters& t = call.parameters;
  t.query = head_tensor(query_extents(p), inputs);
  t.key = head_tensor(key_extents(p), inputs);
  t.value = head_tensor(value_extents(p), inputs);
  t.dy = head_tensor(dy_extents(p), inputs);
  t.attention_in = head_tensor(dy_extents(p), inputs);
  const Shape statistics = {p.batch, p.heads_q, p.seq_q, statistics_replicas};
  t.softmax_max = parameter(DType::fp32, statistics, inputs);
  t.softmax_sum = parameter(DType::fp32, statistics, inputs);
  if (p.atten_mask != MaskShape::absent)
    t.atten_mask = parameter(p.mask_dtype, mask_shape(p), inputs);
  t.dq = head_tensor(query_extents(p), outputs);
  t.dk = head_tensor(key_extents(p), outputs);
  t.dv = head_tensor(value_extents(p), outputs);
  call.attributes = {.scale_value = p.scale_value, .keep_prob = p.keep_prob,
                     .pre_tokens = p.pre_tokens, .next_tokens = p.next_tokens,
                     .head_num = p.heads_q,
                     .input_layout = std::string(to_string(p.input_layout)),
                     .sparse_mode = p.sparse_mode};
  return call;
}

}  // namespace assay::spec
