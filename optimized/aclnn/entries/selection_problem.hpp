#pragma once

#include "aclnn/entries/entry.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/operators/selection.hpp"

namespace assay::aclnn {

/// Returns the problem of a call of block-selected attention or of its gradient. Phase 1 must have
/// accepted the call.
template <class Op>
spec::SelectionProblem problem_of(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  const SequenceLengths q = lengths_of(*p.actual_seq_qlen), kv = lengths_of(*p.actual_seq_kvlen);
  const bool masked = is_given(p.atten_mask);
  return {.dtype = p.query.dtype,
          .batch = static_cast<std::int64_t>(q.all.size()),
          .heads_q = p.query.shape[1],
          .heads_kv = p.key.shape[1],
          .seq_q = q.longest,
          .seq_kv = kv.longest,
          .lengths_q = q.all,
          .lengths_kv = kv.all,
          .head_dim = p.query.shape[2],
          .head_dim_v = p.value.shape[2],
          .scale_value = a.scale_value,
          .selected_block_size = a.selected_block_size,
          .selected_block_count = a.selected_block_count,
          .sparse_mode = a.sparse_mode,
          .atten_mask = masked ? spec::SelectedMask::compressed : spec::SelectedMask::absent,
          .mask_dtype = masked ? p.atten_mask.dtype : spec::DType::boolean};
}

/// Returns the attributes of a call of block-selected attention or of its gradient.
inline spec::SelectionAttributes selection_attributes(const Arguments& given) {
  return {.scale_value = given.number("scaleValue"),
          .selected_block_size = given.integer("selectedBlockSize"),
          .selected_block_count = given.integer("selectedBlockCount"),
          .head_num = given.integer("headNum"),
          .input_layout = given.text("inputLayout"),
          .sparse_mode = given.integer("sparseMode")};
}

}  // namespace assay::aclnn
