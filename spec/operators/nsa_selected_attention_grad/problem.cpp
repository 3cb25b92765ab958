#include <stdexcept>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using Op = NsaSelectedAttentionGrad;

Extents query_side(const Op::Problem& p, std::int64_t heads, std::int64_t dim) {
  return {p.batch, heads, p.seq_q, dim, detail::running_sums(p.lengths_q)};
}

Extents key_side(const Op::Problem& p, std::int64_t dim) {
  return {p.batch, p.heads_kv, p.seq_kv, dim, detail::running_sums(p.lengths_kv)};
}

}  // namespace

Extents query_extents(const Op::Problem& p) { return query_side(p, p.heads_q, p.head_dim); }
Extents attention_out_extents(const Op::Problem& p) {
  return query_side(p, p.heads_q, p.head_dim_v);
}
Extents key_extents(const Op::Problem& p) { return key_side(p, p.head_dim); }
Extents value_extents(const Op::Problem& p) { return key_side(p, p.head_dim_v); }
Extents topk_extents(const Op::Problem& p) {
  return query_side(p, p.heads_kv, p.selected_block_count);
}

Shape statistics_shape(const Op::Problem& p) {
  return shape_of(Layout::tnd, query_side(p, p.heads_q, statistics_replicas));
}

Shape mask_shape(const Op::Problem& p) {
  if (p.atten_mask == SelectedMask::absent)
    throw std::invalid_argument("mask_shape: the problem has no mask");
  return {compressed_mask_edge, compressed_mask_edge};
}

Call<Op> call_of(const Op::Problem& p, SelectedEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  const auto head_tensor = [&](const Extents& extents) {
    return detail::described(p.dtype, shape_of(Layout::tnd, extents));
  };
  Call<Op> call{.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}};
  Op::Parameters& t = call.parameters;
  t.query = head_tensor(query_extents(p));
  t.key = head_tensor(key_extents(p));
  t.value = head_tensor(value_extents(p));
  t.attention_out = head_tensor(attention_out_extents(p));
  t.attention_out_grad = head_tensor(attention_out_extents(p));
  t.softmax_max = detail::described(DType::fp32, statistics_shape(p));
  t.softmax_sum = detail::described(DType::fp32, statistics_shape(p));
  t.topk_indices = detail::described(DType::int32, shape_of(Layout::tnd, topk_extents(p)));
  if (p.atten_mask != SelectedMask::absent)
    t.atten_mask = detail::described(p.mask_dtype, mask_shape(p));
  t.dq = head_tensor(query_extents(p));
  t.dk = head_tensor(key_extents(p));
  t.dv = head_tensor(value_extents(p));
  detail::apply_strides<Op::Outputs>(t, inputs, outputs);
  t.actual_seq_qlen = detail::ends_of(query_extents(p));
  t.actual_seq_kvlen = detail::ends_of(key_extents(p));
  call.attributes = {.scale_value = p.scale_value,
                     .selected_block_size = p.selected_block_size,
                     .selected_block_count = p.selected_block_count,
                     .head_num = p.heads_q,
                     .input_layout = std::string(to_string(Layout::tnd)),
                     .sparse_mode = p.sparse_mode};
  return call;
}

}  // namespace assay::spec
