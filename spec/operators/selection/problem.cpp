#include <stdexcept>

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using Problem = SelectionProblem;

Extents query_side(const Problem& p, std::int64_t heads, std::int64_t dim) {
  return {p.batch, heads, p.seq_q, dim, detail::running_sums(p.lengths_q)};
}

Extents key_side(const Problem& p, std::int64_t dim) {
  return {p.batch, p.heads_kv, p.seq_kv, dim, detail::running_sums(p.lengths_kv)};
}

Shape packed(const Extents& extents) { return shape_of(Layout::tnd, extents); }

template <class Op>
Call<Op> selection_call(const Problem& p, typename Op::EntryPoint entry_point, Product product,
                        const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::call_with_tensors<Op>(p, entry_point, product, inputs, outputs);
  call.parameters.actual_seq_qlen = detail::ends_of(query_extents(p));
  call.parameters.actual_seq_kvlen = detail::ends_of(key_extents(p));
  call.attributes = {.scale_value = p.scale_value,
                     .selected_block_size = p.selected_block_size,
                     .selected_block_count = p.selected_block_count,
                     .head_num = p.heads_q,
                     .input_layout = std::string(to_string(Layout::tnd)),
                     .sparse_mode = p.sparse_mode};
  return call;
}

}  // namespace

Extents query_extents(const Problem& p) { return query_side(p, p.heads_q, p.head_dim); }
Extents attention_out_extents(const Problem& p) { return query_side(p, p.heads_q, p.head_dim_v); }
Extents key_extents(const Problem& p) { return key_side(p, p.head_dim); }
Extents value_extents(const Problem& p) { return key_side(p, p.head_dim_v); }
Extents topk_extents(const Problem& p) { return query_side(p, p.heads_kv, p.selected_block_count); }

Shape query_shape(const Problem& p) { return packed(query_extents(p)); }
Shape attention_out_shape(const Problem& p) { return packed(attention_out_extents(p)); }
Shape key_shape(const Problem& p) { return packed(key_extents(p)); }
Shape value_shape(const Problem& p) { return packed(value_extents(p)); }
Shape topk_shape(const Problem& p) { return packed(topk_extents(p)); }
Shape statistics_shape(const Problem& p) {
  return packed(query_side(p, p.heads_q, statistics_replicas));
}

Shape row_statistics_shape(const Problem& p) { return statistics_shape(p); }

Shape mask_shape(const Problem& p) {
  if (p.atten_mask == SelectedMask::absent)
    throw std::invalid_argument("mask_shape: the problem has no mask");
  return {compressed_mask_edge, compressed_mask_edge};
}
Shape passed_mask_shape(const Problem& p) {
  return p.atten_mask == SelectedMask::absent ? Shape{} : mask_shape(p);
}

Call<NsaSelectedAttentionGrad> call_of(const Problem& p, SelectedEntryPoint entry_point,
                                       Product product, const Strides& inputs,
                                       const Strides& outputs) {
  return selection_call<NsaSelectedAttentionGrad>(p, entry_point, product, inputs, outputs);
}

Call<NsaSelectedAttention> call_of(const Problem& p, SelectedForwardEntryPoint entry_point,
                                   Product product, const Strides& inputs, const Strides& outputs) {
  return selection_call<NsaSelectedAttention>(p, entry_point, product, inputs, outputs);
}

}  // namespace assay::spec
