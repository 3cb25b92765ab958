#include <stdexcept>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using Op = FlashAttentionScoreGrad;

using detail::described;
using detail::ends_of;
using detail::running_sums;

Extents query_side(const Op::Problem& p, std::int64_t dim) {
  return {p.batch, p.heads_q, p.seq_q, dim, running_sums(p.lengths_q), p.padding_q};
}

Extents key_side(const Op::Problem& p, std::int64_t dim) {
  return {p.batch, p.heads_kv, p.seq_kv, dim, running_sums(p.lengths_kv), p.padding_kv};
}

/// The shape of the sparse mode's fixed pattern, with the axes `leading` in front.
Shape compressed_shape(const Op::Problem& p, Shape leading) {
  leading.push_back(compressed_mask_edge + (p.sparse_mode == 6 ? compressed_prefix_rows : 0));
  leading.push_back(compressed_mask_edge);
  return leading;
}

std::optional<std::vector<std::int64_t>> host_array(const std::vector<std::int64_t>& values) {
  if (values.empty()) return std::nullopt;
  return values;
}

}  // namespace

Extents query_extents(const Op::Problem& p) { return query_side(p, p.head_dim); }
Extents dy_extents(const Op::Problem& p) { return query_side(p, p.head_dim_v); }
Extents query_rope_extents(const Op::Problem& p) { return query_side(p, p.head_dim_rope); }
Extents key_extents(const Op::Problem& p) { return key_side(p, p.head_dim); }
Extents value_extents(const Op::Problem& p) { return key_side(p, p.head_dim_v); }
Extents key_rope_extents(const Op::Problem& p) { return key_side(p, p.head_dim_rope); }

std::int64_t score_count(const Op::Problem& p) {
  if (p.lengths_q.empty() && p.lengths_kv.empty()) return p.batch * p.heads_q * p.seq_q * p.seq_kv;
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) pairs += p.length_q(b) * p.length_kv(b);
  return p.heads_q * pairs;
}

Shape statistics_shape(const Op::Problem& p) {
  if (is_packed(p.input_layout))
    return {query_extents(p).tokens() + p.padding_q, p.heads_q, statistics_replicas};
  return {p.batch, p.heads_q, p.seq_q, statistics_replicas};
}

Shape mask_shape(const Op::Problem& p) {
  switch (p.atten_mask) {
    case MaskShape::ss:
      return {p.seq_q, p.seq_kv};
    case MaskShape::one_one_ss:
      return {1, 1, p.seq_q, p.seq_kv};
    case MaskShape::b_one_ss:
      return {p.batch, 1, p.seq_q, p.seq_kv};
    case MaskShape::bnss:
      return {p.batch, p.heads_q, p.seq_q, p.seq_kv};
    case MaskShape::compressed:
      return compressed_shape(p, {});
    case MaskShape::compressed_one_one_ss:
      return compressed_shape(p, {1, 1});
    case MaskShape::compressed_b_one_ss:
      return compressed_shape(p, {p.batch, 1});
    case MaskShape::compressed_bnss:
      return compressed_shape(p, {p.batch, p.heads_q});
    case MaskShape::absent:
      break;
  }
  throw std::invalid_argument("mask_shape: the problem has no mask");
}

Shape pse_shape(const Op::Problem& p) {
  switch (p.pse_shift) {
    case PseShape::bnss:
      return {p.batch, p.heads_q, p.seq_q, p.seq_kv};
    case PseShape::bn1s:
      return {p.batch, p.heads_q, 1, p.seq_kv};
    case PseShape::one_nss:
      return {1, p.heads_q, p.seq_q, p.seq_kv};
    case PseShape::bnhs:
      return {p.batch, p.heads_q, compressed_pse_rows, p.seq_kv};
    case PseShape::one_nhs:
      return {1, p.heads_q, compressed_pse_rows, p.seq_kv};
    case PseShape::packed_bn1s:
      return {p.heads_q * (key_extents(p).tokens() + p.padding_kv)};
    case PseShape::packed_bnss:
      return {score_count(p)};
    case PseShape::slopes_n:
      return {p.heads_q};
    case PseShape::slopes_bn:
      return {p.batch, p.heads_q};
    case PseShape::absent:
      break;
  }
  throw std::invalid_argument("pse_shape: the problem has no pse");
}

Shape drop_mask_shape(const Op::Problem& p) {
  const std::int64_t bits = score_count(p);
  switch (p.drop_mask) {
    case DropMask::exact:
      return {(bits + 7) / 8};
    case DropMask::granules:
      return {(bits + 127) / 128 * 16 + 32};
    case DropMask::absent:
      break;
  }
  throw std::invalid_argument("drop_mask_shape: the problem has no drop mask");
}

DType pse_dtype(const Op::Problem& p) { return p.pse_type >= 2 ? p.slope_dtype : p.dtype; }

Call<Op> call_of(const Op::Problem& p, FlashEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  const auto head_tensor = [&](const Extents& extents) {
    return described(p.dtype, shape_of(p.input_layout, extents));
  };
  Call<Op> call{.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}};
  Op::Parameters& t = call.parameters;
  t.query = head_tensor(query_extents(p));
  t.key = head_tensor(key_extents(p));
  t.value = head_tensor(value_extents(p));
  t.dy = head_tensor(dy_extents(p));
  t.attention_in = head_tensor(dy_extents(p));
  t.softmax_max = described(DType::fp32, statistics_shape(p));
  t.softmax_sum = described(DType::fp32, statistics_shape(p));
  if (p.atten_mask != MaskShape::absent) t.atten_mask = described(p.mask_dtype, mask_shape(p));
  if (p.pse_shift != PseShape::absent) t.pse_shift = described(pse_dtype(p), pse_shape(p));
  if (p.drop_mask != DropMask::absent) t.drop_mask = described(DType::uint8, drop_mask_shape(p));
  t.dq = head_tensor(query_extents(p));
  t.dk = head_tensor(key_extents(p));
  t.dv = head_tensor(value_extents(p));
  if (has_rope(entry_point)) {
    t.query_rope = head_tensor(query_rope_extents(p));
    t.key_rope = head_tensor(key_rope_extents(p));
    t.dq_rope = head_tensor(query_rope_extents(p));
    t.dk_rope = head_tensor(key_rope_extents(p));
  }
  detail::apply_strides<Op::Outputs>(t, inputs, outputs);
  t.prefix = host_array(p.prefix);
  if (is_unpadding(entry_point)) {
    t.actual_seq_qlen = ends_of(query_extents(p));
    t.actual_seq_kvlen = ends_of(key_extents(p));
  }
  call.attributes = {.scale_value = p.scale_value,
                     .keep_prob = p.keep_prob,
                     .pre_tokens = p.pre_tokens,
                     .next_tokens = p.next_tokens,
                     .head_num = p.heads_q,
                     .input_layout = std::string(to_string(p.input_layout)),
                     .sparse_mode = p.sparse_mode,
                     .softmax_in_layout = {}};
  if (has_pse_type(entry_point)) {
    t.q_start_idx = host_array(p.q_start_idx);
    t.kv_start_idx = host_array(p.kv_start_idx);
    call.attributes.pse_type = p.pse_type;
  }
  if (has_softmax_in_layout(entry_point))
    call.attributes.softmax_in_layout =
        p.softmax_in_layout == SoftmaxInLayout::empty ? "" : "same_as_input";
  return call;
}

}  // namespace assay::spec
