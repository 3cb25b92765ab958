#pragma once

#include <vector>

#include "operators/flash_attention_score_grad/relations/relations.hpp"

/// Problems to which relations apply; each relation asks for the features that its domain has.
namespace assay::conformance::flash {

inline bool is_packed(const Op::Problem& p) { return p.input_layout == spec::Layout::tnd; }

/// Grouped heads, lengths beside tile edges.
inline Op::Problem padded_problem(spec::DType dtype) {
  return {.input_layout = spec::Layout::bnsd,
          .dtype = dtype,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 19,
          .seq_kv = 26,
          .head_dim = 24,
          .head_dim_v = 16,
          .scale_value = 0.25};
}

inline Op::Problem ragged_problem(spec::DType dtype) {
  Op::Problem p = padded_problem(dtype);
  p.input_layout = spec::Layout::tnd;
  p.batch = 4, p.seq_q = 23, p.seq_kv = 26;
  p.lengths_q = {11, 0, 23, 19}, p.lengths_kv = {26, 7, 25, 22};
  return p;
}

/// TND whose sequences are equally long.
inline Op::Problem even_problem(spec::DType dtype) {
  Op::Problem p = padded_problem(dtype);
  p.input_layout = spec::Layout::tnd;
  return p;
}

inline Op::Problem with_mask(Op::Problem p, std::int64_t mode, spec::MaskShape shape) {
  p.sparse_mode = mode, p.atten_mask = shape;
  return p;
}
inline Op::Problem with_compressed_mask(Op::Problem p, std::int64_t mode) {
  return with_mask(std::move(p), mode, spec::MaskShape::compressed);
}
inline Op::Problem with_dropout(Op::Problem p, double keep_prob) {
  p.keep_prob = keep_prob, p.drop_mask = spec::DropMask::exact;
  return p;
}
inline Op::Problem with_pse(Op::Problem p, std::int64_t pse_type, spec::PseShape shape) {
  p.pse_type = pse_type, p.pse_shift = shape;
  if (pse_type >= 2 && !is_packed(p)) p.seq_kv = p.seq_q;
  // A position bias excludes empty sequences.
  for (auto* lengths : {&p.lengths_q, &p.lengths_kv})
    for (std::int64_t& length : *lengths) length = length == 0 ? 1 : length;
  return p;
}
inline Op::Problem with_rope(Op::Problem p, std::int64_t head_dim_rope) {
  p.head_dim_rope = head_dim_rope;
  return p;
}

inline bool has_equal_lengths(const Op::Problem& p) {
  return p.lengths_q.empty() && p.lengths_kv.empty();
}
inline bool has_user_mask(const Op::Problem& p) { return spec::is_written_out(p.atten_mask); }
/// Whether pse is written out for every pair, by the caller or by repetition.
inline bool has_written_bias(const Op::Problem& p) {
  using enum spec::PseShape;
  return p.pse_shift != absent && p.pse_shift != bnhs && p.pse_shift != one_nhs && p.pse_type < 2;
}
/// Whether `rearranged` can say of moved pairs what the problem says of them. Compressed biases
/// leave pairs out.
inline bool has_movable_bias(const Op::Problem& p) {
  return p.pse_shift == spec::PseShape::absent || p.pse_type >= 2 || has_written_bias(p);
}

}  // namespace assay::conformance::flash
