#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

using Op = spec::FlashAttentionScoreGrad;

/// A dense float copy of an attention tensor. Its rows have the order of `Extents::row`.
struct DenseRows {
  spec::Extents extents;
  std::vector<float> values;

  std::span<float> row(std::int64_t b, std::int64_t n, std::int64_t s);
  std::span<const float> row(std::int64_t b, std::int64_t n, std::int64_t s) const;
  std::span<float> row(const spec::RowPosition& at) { return row(at.b, at.n, at.s); }
  std::span<const float> row(const spec::RowPosition& at) const { return row(at.b, at.n, at.s); }
};

/// Calls visit(b, n, s) row after row.
template <class Visitor>
void visit_rows(const spec::Extents& e, Visitor visit) {
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s) visit(b, n, s);
}

/// Returns rows in which every element equals `value`.
DenseRows filled(const spec::Extents& extents, float value);
/// Returns a dense copy of a tensor that has the layout.
DenseRows dense_of(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents);

enum class Gradient : std::uint8_t { dq, dk, dv, dq_rope, dk_rope };

inline constexpr Gradient all_gradients[] = {Gradient::dq, Gradient::dk, Gradient::dv,
                                             Gradient::dq_rope, Gradient::dk_rope};

/// Returns whether the gradient belongs to query (dq, dq_rope).
constexpr bool is_of_queries(Gradient which) {
  return which == Gradient::dq || which == Gradient::dq_rope;
}

/// The problem of one run, the tensors that it reads, and the sums that it computes. Rope tensors
/// have rows of size 0 if the problem has no rope part.
struct AttentionWork {
  Op::Problem problem;
  DenseRows query, key, value, dy, attention_in, query_rope, key_rope;
  DenseRows softmax_max, softmax_sum;  ///< row size (dim) 1
  const spec::Tensor* atten_mask = nullptr;
  std::vector<float> sink;               ///< one per query head; empty: no sink
  std::vector<float> pse;                ///< row-major elements; empty: no position bias
  std::vector<std::uint8_t> drop_bytes;  ///< empty: no dropout
  /// for each sequence: the number of scores of all earlier sequences, over all heads
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

/// Adds the dot product to `sum`, in float and in ascending order.
float dot(std::span<const float> a, std::span<const float> b, float sum = 0);

/// Returns whether the row is fully masked, according to its statistics.
bool is_dead(const AttentionWork& w, Query q);

/// Returns the elements of `tensor` in row-major order of its view.
std::vector<float> flat(const spec::Tensor& tensor);

}  // namespace assay::mutants
