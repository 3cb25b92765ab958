#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attention/relations/relations.hpp"

/// Experiments that the operators of attention share.
namespace assay::conformance::flash {

/// The rows of the output, or of its gradient, which have another name in each operator.
template <class Trial>
using RowsOf = std::vector<double> decltype(Trial::rows)::*;

/// A power of two times the gradient of the output.
template <class Trial>
ExperimentOf<Trial> scaled(const Trial& base, RowsOf<Trial> dy) {
  constexpr double factor = 0x1p9;
  ExperimentOf<Trial> experiment = unchanged(base, base);
  experiment.variants[0].rows.*dy = times(base.rows.*dy, factor);
  experiment.combine = [](const std::vector<Gradients>& outputs) {
    return times(outputs[0], 1 / factor);
  };
  return experiment;
}

/// A gradient of the output of zeros; `zeros` is what is due.
template <class Trial>
ExperimentOf<Trial> zeroed(const Trial& base, RowsOf<Trial> dy, Gradients zeros) {
  ExperimentOf<Trial> experiment{.base = base, .variants = {}, .combine = {}};
  experiment.base.rows.*dy = times(base.rows.*dy, 0);
  experiment.combine = [zeros = std::move(zeros)](const std::vector<Gradients>&) { return zeros; };
  return experiment;
}

/// The gradient of the output is cut into two summands with zeros where the other one is not zero:
/// no rounding.
template <class Trial>
ExperimentOf<Trial> cut_in_two(const Trial& base, RowsOf<Trial> dy) {
  Trial first = base, second = base;
  for (std::size_t k = 0; k < (base.rows.*dy).size(); ++k)
    ((k * 5 % 7 < 3 ? first : second).rows.*dy)[k] = 0;
  return {
      .base = base,
      .variants = {first, second},
      .combine = [](const std::vector<Gradients>& outputs) { return sum(outputs[0], outputs[1]); }};
}

/// value + c and output + c in channel d, c = 1 or -2.
template <class Trial>
ExperimentOf<Trial> shifted_value(const Trial& base, RowsOf<Trial> output) {
  Trial near = base;
  for (auto* rows : {&near.rows.value, &(near.rows.*output)})
    for (double& x : *rows) x = on_grid(x);
  Trial shifted = near;
  const auto dim = static_cast<std::size_t>(base.problem.head_dim_v);
  for (auto* rows : {&shifted.rows.value, &(shifted.rows.*output)})
    for (std::size_t k = 0; k < rows->size(); ++k) (*rows)[k] += k % dim % 2 == 0 ? 1 : -2;
  return unchanged(std::move(near), std::move(shifted));
}

/// Every key head with its query heads alone.
template <class Problem>
std::vector<PieceOf<Problem>> head_pieces(const Problem& p) {
  using spec::RowPosition;
  Problem one = p;
  one.heads_q = p.group(), one.heads_kv = 1;
  std::vector<PieceOf<Problem>> pieces;
  for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
    pieces.push_back({one,
                      [first = kv * p.group()](const RowPosition& row) {
                        return RowPosition{row.b, first + row.n, row.s};
                      },
                      [kv](const RowPosition& row) {
                        return RowPosition{row.b, kv, row.s};
                      }});
  return pieces;
}

/// A key head of its own for every query head.
template <class Problem>
std::vector<PieceOf<Problem>> repeated_heads(const Problem& p) {
  using spec::RowPosition;
  Problem repeated = p;
  repeated.heads_kv = p.heads_q;
  return {{repeated, same_row, [group = p.group()](const RowPosition& row) {
             return RowPosition{row.b, row.n / group, row.s};
           }}};
}

}  // namespace assay::conformance::flash
