#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using Op = SparseFlashAttentionGrad;
using Problem = SparseFlashProblem;

Extents query_side(const Problem& p, std::int64_t heads, std::int64_t dim) {
  return {p.batch, heads, p.seq_q, dim, detail::running_sums(p.lengths_q)};
}
Extents key_side(const Problem& p, std::int64_t dim) {
  return {p.batch, 1, p.seq_kv, dim, detail::running_sums(p.lengths_kv)};
}
Shape packed_or_padded(const Problem& p, const Extents& extents) {
  return shape_of(p.layout, extents);
}

}  // namespace

Extents query_extents(const Problem& p) { return query_side(p, p.heads_q, Problem::head_dim); }
Extents key_extents(const Problem& p) { return key_side(p, Problem::head_dim); }
Extents query_rope_extents(const Problem& p) { return query_side(p, p.heads_q, p.head_dim_rope); }
Extents key_rope_extents(const Problem& p) { return key_side(p, p.head_dim_rope); }
Extents sparse_indices_extents(const Problem& p) { return query_side(p, 1, p.sparse_block_count); }

Shape Op::query_shape(const Problem& p) { return packed_or_padded(p, query_extents(p)); }
Shape Op::key_shape(const Problem& p) { return packed_or_padded(p, key_extents(p)); }
Shape Op::value_shape(const Problem& p) { return p.is_merged() ? Shape{} : key_shape(p); }
Shape Op::query_rope_shape(const Problem& p) {
  return p.head_dim_rope == 0 ? Shape{} : packed_or_padded(p, query_rope_extents(p));
}
Shape Op::key_rope_shape(const Problem& p) {
  return p.head_dim_rope == 0 ? Shape{} : packed_or_padded(p, key_rope_extents(p));
}
Shape Op::indices_shape(const Problem& p) { return packed_or_padded(p, sparse_indices_extents(p)); }
Shape Op::statistics_shape(const Problem& p) {
  if (is_packed(p.layout)) return {1, query_extents(p).tokens(), p.heads_q};
  return {p.batch, 1, p.seq_q, p.heads_q};
}
Shape Op::lengths_shape(const Problem& p) { return is_packed(p.layout) ? Shape{p.batch} : Shape{}; }

Call<Op> call_of(const Problem& p, SparseFlashEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::call_with_tensors<Op>(p, entry_point, product, inputs, outputs);
  call.attributes = {.scale_value = p.scale_value,
                     .sparse_block_size = p.sparse_block_size,
                     .layout = std::string(to_string(p.layout)),
                     .sparse_mode = p.sparse_mode};
  return call;
}

bool supports(SparseFlashEntryPoint, Product) { return true; }
std::string_view product_requirement(SparseFlashEntryPoint, Product) { return "SFAG-C01"; }

}  // namespace assay::spec
