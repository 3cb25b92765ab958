#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

using Op = spec::FlashAttentionScoreGrad;

/// A dense float copy of an attention tensor: row after row as `Extents::row` counts them.
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

/// Every element `value`.
DenseRows filled(const spec::Extents& extents, float value);
/// The elements of a tensor of the layout.
DenseRows dense_of(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents);

enum class Gradient : std::uint8_t { dq, dk, dv, dq_rope, dk_rope };

inline constexpr Gradient all_gradients[] = {Gradient::dq, Gradient::dk, Gradient::dv,
                                             Gradient::dq_rope, Gradient::dk_rope};

/// Whether the gradient is one of the query side.
constexpr bool is_of_queries(Gradient which) {
  return which == Gradient::dq || which == Gradient::dq_rope;
}

/// Everything that one run reads and accumulates. The rope tensors have rows of size 0 where there
/// are none.
struct Work {
  Op::Problem problem;
  DenseRows query, key, value, dy, attention_in, query_rope, key_rope;
  DenseRows softmax_max, softmax_sum;  ///< dim 1
  const spec::Tensor* atten_mask = nullptr;
  std::vector<float> pse;                 ///< row-major elements; empty: there is none
  std::vector<std::uint8_t> drop_bytes;   ///< empty: there is no dropout
  std::vector<std::int64_t> first_score;  ///< of every sequence: scores of all heads in front of it
  DenseRows dq, dk, dv, dq_rope, dk_rope;

  DenseRows& gradient(Gradient which);
};

/// A query row.
struct Query {
  std::int64_t b, n, i;
};

/// What a query row brings to each of its pairs.
struct RowState {
  float softmax_max, softmax_sum, row_term;
};

/// Queries first_query..end_query-1 against keys first_key..end_key-1.
struct Tile {
  std::int64_t first_query, end_query, first_key, end_key;
};

/// Dot product in float, ascending, onto `sum`.
float dot(std::span<const float> a, std::span<const float> b, float sum = 0);

/// Whether no key of the row is kept, by its statistics.
bool is_dead(const Work& w, Query q);

/// The elements of `tensor` in row-major order of its view.
std::vector<float> flat(const spec::Tensor& tensor);

}  // namespace assay::mutants
