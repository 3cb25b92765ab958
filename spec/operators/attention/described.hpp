#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"
#include "operators/described.hpp"

/// Helpers to build the calls of attention operators.
namespace assay::spec::detail {

/// Returns the descriptor of a tensor with these extents, in the layout and type of `p`.
inline Parameter laid_out(const AttentionProblem& p, const Extents& extents) {
  return described(p.dtype, shape_of(p.input_layout, extents));
}

inline std::optional<std::vector<std::int64_t>> host_array(
    const std::vector<std::int64_t>& values) {
  if (values.empty()) return std::nullopt;
  return values;
}

/// Builds the part of a call that is the same for the forward operator and its gradient: query,
/// key, value, rope parts, mask, bias, dropout, sink, statistics, host arrays and attributes. Sets
/// no field for which the entry point has no parameter.
template <class Op>
Call<Op> shared_call_of(const AttentionProblem& p, typename Op::EntryPoint entry_point,
                        Product product) {
  Call<Op> call{.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}};
  auto& t = call.parameters;
  t.query = laid_out(p, query_extents(p));
  t.key = laid_out(p, key_extents(p));
  t.value = laid_out(p, value_extents(p));
  t.softmax_max = described(DType::fp32, statistics_shape(p));
  t.softmax_sum = described(DType::fp32, statistics_shape(p));
  if (p.atten_mask != MaskShape::absent) t.atten_mask = described(p.mask_dtype, mask_shape(p));
  if (p.pse_shift != PseShape::absent) t.pse_shift = described(pse_dtype(p), pse_shape(p));
  if (p.drop_mask != DropMask::absent) t.drop_mask = described(DType::uint8, drop_mask_shape(p));
  if (requires_rope(entry_point) || (has_rope(entry_point) && p.head_dim_rope > 0)) {
    t.query_rope = laid_out(p, query_rope_extents(p));
    t.key_rope = laid_out(p, key_rope_extents(p));
  }
  if (p.has_sink() && has_sink(entry_point)) t.sink = described(DType::fp32, {p.heads_q});
  t.prefix = host_array(p.prefix);
  if (is_unpadding(entry_point)) {
    t.actual_seq_qlen = ends_of(query_extents(p));
    t.actual_seq_kvlen = ends_of(key_extents(p));
  }
  auto& a = call.attributes;
  a.scale_value = p.scale_value;
  a.keep_prob = p.keep_prob;
  a.pre_tokens = p.pre_tokens;
  a.next_tokens = p.next_tokens;
  a.head_num = p.heads_q;
  a.input_layout = std::string(to_string(p.input_layout));
  a.sparse_mode = p.sparse_mode;
  if (has_pse_type(entry_point)) {
    t.q_start_idx = host_array(p.q_start_idx);
    t.kv_start_idx = host_array(p.kv_start_idx);
    a.pse_type = p.pse_type;
  }
  return call;
}

}  // namespace assay::spec::detail
