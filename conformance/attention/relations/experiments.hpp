#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "judge/relations/relation.hpp"

/// Experiments that all attention operators share. An experiment is a pair of runs whose outputs
/// are compared.
namespace assay::conformance::attention {

/// Says from which row each query row, key row and head of a new problem is copied.
struct Origins {
  Origin query, key, head = same_row;
};

/// Returns the approximate number of multiply-adds of one backward pass.
inline double backward_multiply_adds(const spec::FlashAttentionScoreGrad::Problem& p) {
  return 5.0 * static_cast<double>(score_count(p)) *
         static_cast<double>(p.head_dim + p.head_dim_rope);
}

/// Rounds a number to a multiple of 1/8 with a magnitude below 4. Every type can represent the
/// result, also after 1 or -2 is added to it.
inline double on_grid(double value) {
  return std::fmin(std::fmax(std::nearbyint(8 * value), -31), 31) / 8;
}

/// Adds a constant (1 or -2) to each channel of value and of output. The gradients must not change.
template <class Op>
Experiment<Op> shifted_value(const Trial<Op>& base, RowsMember<Op> output) {
  Trial<Op> near = base;
  for (auto* rows : {&near.rows.value, &(near.rows.*output)})
    for (double& x : *rows) x = on_grid(x);
  Trial<Op> shifted = near;
  const auto dim = static_cast<std::size_t>(base.problem.head_dim_v);
  for (auto* rows : {&shifted.rows.value, &(shifted.rows.*output)})
    for (std::size_t k = 0; k < rows->size(); ++k) (*rows)[k] += k % dim % 2 == 0 ? 1 : -2;
  return unchanged(std::move(near), std::move(shifted));
}

/// Returns whether this query row is fully masked, according to its statistics.
template <class Op>
bool is_dead(const Trial<Op>& trial, std::size_t row) {
  return trial.rows.softmax_max[row] < -0x1p13 || trial.rows.softmax_sum[row] == 0;
}

/// Rounds every softmax_max to a multiple of 2^-10, and changes softmax_sum so that the
/// probabilities stay the same.
template <class Op>
Trial<Op> with_round_statistics(Trial<Op> trial) {
  for (std::size_t row = 0; row < trial.rows.softmax_max.size(); ++row) {
    if (is_dead(trial, row)) continue;
    double &maximum = trial.rows.softmax_max[row], &sum = trial.rows.softmax_sum[row];
    const double old = maximum;
    maximum = std::nearbyint(0x1p10 * old) * 0x1p-10;
    sum = static_cast<float>(sum * std::exp(old - maximum));
  }
  return trial;
}

/// Adds 1 to softmax_max and divides softmax_sum by e. The probabilities of a row must stay the
/// same.
template <class Op>
Experiment<Op> shifted_statistics(const Trial<Op>& base) {
  Trial<Op> near = with_round_statistics(base), shifted = near;
  for (std::size_t row = 0; row < shifted.rows.softmax_max.size(); ++row) {
    if (is_dead(shifted, row)) continue;
    double& sum = shifted.rows.softmax_sum[row];
    shifted.rows.softmax_max[row] += 1;
    sum = static_cast<float>(sum * std::exp(-1.0));
  }
  return unchanged(std::move(near), std::move(shifted));
}

/// Runs every key head and its query heads as a separate problem.
template <class Op>
Experiment<Op> split_heads(const Trial<Op>& base) {
  using spec::RowPosition;
  const std::int64_t group = base.problem.group();
  std::vector<Piece<Op>> pieces;
  for (std::int64_t kv = 0; kv < base.problem.heads_kv; ++kv) {
    pieces.push_back({base.problem,
                      {[first = kv * group](const RowPosition& row) {
                         return RowPosition{row.b, first + row.n, row.s};
                       },
                       [kv](const RowPosition& row) {
                         return RowPosition{row.b, kv, row.s};
                       },
                       [first = kv * group](const RowPosition& row) {
                         return RowPosition{row.b, first + row.n, row.s};
                       }}});
    pieces.back().problem.heads_q = group;
    pieces.back().problem.heads_kv = 1;
  }
  return rearranging(base, std::move(pieces));
}

/// Gives every query head its own copy of its key head.
template <class Op>
Experiment<Op> repeat_heads(const Trial<Op>& base) {
  using spec::RowPosition;
  typename Op::Problem repeated = base.problem;
  repeated.heads_kv = repeated.heads_q;
  const auto key = [group = base.problem.group()](const RowPosition& row) {
    return RowPosition{row.b, row.n / group, row.s};
  };
  return rearranging(base, {{repeated, {same_row, key}}});
}

}  // namespace assay::conformance::attention
