#pragma once

#include "generated.hpp"
#include "selection/kernel.hpp"

namespace assay::mutants::selection {

/// Returns the coordinates of a pair, which decide whether a generated fault happens there. Numbers
/// the keys of a row in the order of its list: block by block, and key by key in each block.
template <class Work>
Spot spot_of(const Work& w, const Pair& pair) {
  const std::int64_t size = w.problem.selected_block_size;
  return {.b = pair.q.b,
          .n = pair.q.n,
          .i = pair.q.i,
          .j = pair.slot * size + pair.j,
          .heads = w.problem.heads_q,
          .rows = w.problem.length_q(pair.q.b),
          .keys = w.problem.selected_block_count * size};
}

template <class Work>
Pair pair_of(const Work& w, const Spot& spot) {
  const std::int64_t size = w.problem.selected_block_size;
  return {{spot.b, spot.n, spot.i}, spot.j / size, spot.j % size};
}

}  // namespace assay::mutants::selection
