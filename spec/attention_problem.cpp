#include "assay/spec/attention_problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "assay/spec/attention.hpp"
#include "assay/spec/numerics.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using detail::running_sums;

Extents query_side(const AttentionProblem& p, std::int64_t dim) {
  return {p.batch, p.heads_q, p.seq_q, dim, running_sums(p.lengths_q), p.padding_q};
}

Extents key_side(const AttentionProblem& p, std::int64_t dim) {
  return {p.batch, p.heads_kv, p.seq_kv, dim, running_sums(p.lengths_kv), p.padding_kv};
}

/// Returns the shape of a compressed mask, the fixed mask pattern of a sparse mode: the axes
/// `leading`, then rows and columns.
Shape compressed_shape(const AttentionProblem& p, Shape leading) {
  leading.push_back(compressed_mask_edge + (p.sparse_mode == 6 ? compressed_prefix_rows : 0));
  leading.push_back(compressed_mask_edge);
  return leading;
}

}  // namespace

Extents query_extents(const AttentionProblem& p) { return query_side(p, p.head_dim); }
Extents dy_extents(const AttentionProblem& p) { return query_side(p, p.head_dim_v); }
Extents query_rope_extents(const AttentionProblem& p) { return query_side(p, p.head_dim_rope); }
Extents key_extents(const AttentionProblem& p) { return key_side(p, p.head_dim); }
Extents value_extents(const AttentionProblem& p) { return key_side(p, p.head_dim_v); }
Extents key_rope_extents(const AttentionProblem& p) { return key_side(p, p.head_dim_rope); }
Extents sink_extents(const AttentionProblem& p) {
  return {.batch = 1, .heads = p.heads_q, .seq = 1, .dim = p.has_sink() ? 1 : 0};
}

std::int64_t score_count(const AttentionProblem& p) {
  if (p.lengths_q.empty() && p.lengths_kv.empty()) return p.batch * p.heads_q * p.seq_q * p.seq_kv;
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) pairs += p.length_q(b) * p.length_kv(b);
  return p.heads_q * pairs;
}

Shape statistics_shape(const AttentionProblem& p) {
  if (is_packed(p.input_layout))
    return {query_extents(p).tokens() + p.padding_q, p.heads_q, statistics_replicas};
  return {p.batch, p.heads_q, p.seq_q, statistics_replicas};
}

Shape mask_shape(const AttentionProblem& p) {
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

Shape pse_shape(const AttentionProblem& p) {
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

Shape drop_mask_shape(const AttentionProblem& p) {
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

DType pse_dtype(const AttentionProblem& p) { return p.pse_type >= 2 ? p.slope_dtype : p.dtype; }

bool is_order_of_statistics_seen(const AttentionProblem& p) {
  if (!is_packed(p.input_layout) || p.heads_q == 1) return false;
  if (p.lengths_q.empty()) return p.batch > 0 && p.seq_q > 1;
  return std::ranges::any_of(p.lengths_q, [](std::int64_t length) { return length > 1; });
}

std::optional<StatisticsOrder> declared_order(const Numerics& numerics, bool by_layout,
                                              SoftmaxInLayout layout) {
  const DeclaredOrder declared = !by_layout ? numerics.statistics_order
                                 : layout == SoftmaxInLayout::empty
                                     ? numerics.statistics_order_empty
                                     : numerics.statistics_order_same_as_input;
  switch (declared) {
    case DeclaredOrder::heads_first:
      return StatisticsOrder::heads_first;
    case DeclaredOrder::tokens_first:
      return StatisticsOrder::tokens_first;
    case DeclaredOrder::undeclared:
      break;
  }
  return std::nullopt;
}

}  // namespace assay::spec
