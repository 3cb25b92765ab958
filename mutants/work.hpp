#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

using Op = spec::FlashAttentionScoreGrad;

/// A dense float copy of an attention tensor. The function `Extents::row` defines the order of its
/// rows.
struct DenseRows {
  spec::Extents extents;
  std::vector<float> values;

  std::span<float> row(std::int64_t b, std::int64_t n, std::int64_t s);
  std::span<const float> row(std::int64_t b, std::int64_t n, std::int64_t s) const;
  std::span<float> row(const spec::RowPosition& at) { return row(at.b, at.n, at.s); }
  std::span<const float> row(const spec::RowPosition& at) const { return row(at.b, at.n, at.s); }
};

/// Calls visit(b, n, s) for every row in order.
template <class Visitor>
void visit_rows(const spec::Extents& e, Visitor visit) {
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s) visit(b, n, s);
}

/// Returns rows with the value `value` in every element.
DenseRows filled(const spec::Extents& extents, float value);
/// Returns a dense copy of a tensor. `layout`: the layout of the tensor.
DenseRows dense_of(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents);

enum class Gradient : std::uint8_t { dq, dk, dv, dq_rope, dk_rope };

inline constexpr Gradient all_gradients[] = {Gradient::dq, Gradient::dk, Gradient::dv,
                                             Gradient::dq_rope, Gradient::dk_rope};

/// Returns whether the gradient belongs to query (dq, dq_rope).
constexpr bool is_of_queries(Gradient which) {
  return which == Gradient::dq || which == Gradient::dq_rope;
}

/// The problem of one run, the tensors that the kernel reads, and the sums that it computes. If the
/// problem has no rope part, the rope tensors have rows of size 0.
struct AttentionWork {
  Op::Problem problem;
  DenseRows query, key, value, dy, attention_in, query_rope, key_rope;
  DenseRows softmax_max, softmax_sum;  ///< row size (dim) 1
  const spec::Tensor* atten_mask = nullptr;
  std::vector<float> sink;               ///< one per query head; empty: no sink
  std::vector<float> pse;                ///< row-major elements; empty: no position bias
  std::vector<std::uint8_t> drop_bytes;  ///< empty: no dropout
  /// For each sequence: the number of scores in all earlier sequences, summed over all heads.
  std::vector<std::int64_t> first_score;
  DenseRows dq, dk, dv, dq_rope, dk_rope;

  DenseRows& gradient(Gradient which);
};

/// A query row.
struct Query {
  std::int64_t b, n, i;
};

/// The values of a query row that all of its pairs use.
struct RowState {
  float softmax_max, softmax_sum, row_term;
};

/// A tile: queries first_query..end_query-1 and keys first_key..end_key-1.
struct Tile {
  std::int64_t first_query, end_query, first_key, end_key;
};

/// Returns `sum` plus the dot product of a and b, added in float in ascending order.
float dot(std::span<const float> a, std::span<const float> b, float sum = 0);

/// Returns whether the row is fully masked, as the forward's statistics show.
bool is_dead(const AttentionWork& w, Query q);

/// Returns the viewed elements of `tensor` in row-major order.
std::vector<float> flat(const spec::Tensor& tensor);

}  // namespace assay::mutants
