#pragma once

#include <utility>
#include <vector>

#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

/// Problems to which relations apply; each relation asks for the features that its domain has.
namespace assay::conformance::selected {

using spec::DType;

/// Grouped heads, unequal sequences, a few blocks more than are listed.
inline Op::Problem small_problem(DType dtype) {
  return {.dtype = dtype,
          .batch = 3,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 19,
          .seq_kv = 112,
          .lengths_q = {19, 3, 16},
          .lengths_kv = {96, 64, 112},
          .head_dim = 192,
          .head_dim_v = 128,
          .scale_value = 0.0625,
          .selected_block_size = 16,
          .selected_block_count = 4};
}

inline Op::Problem with_mask(Op::Problem p) {
  p.sparse_mode = 2;
  p.atten_mask = spec::SelectedMask::compressed;
  return p;
}

inline bool is_anything(const Op::Problem&) { return true; }
inline bool is_masked(const Op::Problem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}
inline bool is_unmasked(const Op::Problem& p) { return p.sparse_mode == 0; }
inline bool is_not_fp16(const Op::Problem& p) { return p.dtype != DType::fp16; }
inline bool is_fp16(const Op::Problem& p) { return p.dtype == DType::fp16; }

inline std::vector<Op::Problem> unmasked() { return {small_problem(DType::bf16)}; }
/// Queries enough to lie in several blocks.
inline std::vector<Op::Problem> masked() {
  Op::Problem p = with_mask(small_problem(DType::fp16));
  p.lengths_q = {40, 3, 16}, p.seq_q = 40;
  return {p};
}
inline std::vector<Op::Problem> of_both_modes() {
  return {small_problem(DType::fp16), with_mask(small_problem(DType::bf16))};
}
inline std::vector<Op::Problem> of_bf16() { return {with_mask(small_problem(DType::bf16))}; }
inline std::vector<Op::Problem> of_fp16() { return {small_problem(DType::fp16)}; }

}  // namespace assay::conformance::selected
