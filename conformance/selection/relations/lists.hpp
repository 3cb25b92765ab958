#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "assay/spec/at.hpp"
#include "judge/relations/relation.hpp"
#include "selection/problem.hpp"

/// Experiments for block lists. They change entries, the order of entries, or how often a list
/// contains a block.
namespace assay::conformance::selection {

inline bool is_unmasked(const Problem& p) { return p.sparse_mode == 0; }

using List = std::span<std::int64_t>;

/// Calls change(list, position) for the list of every query and key head.
template <class Op, class Change>
void change_lists(Trial<Op>& trial, Change&& change) {
  const spec::Extents lists = topk_extents(trial.problem);
  for (std::int64_t row = 0; row < lists.rows(); ++row)
    change(List(trial.rows.topk_indices).subspan(spec::at(row * lists.dim), spec::at(lists.dim)),
           lists.position(row));
}

inline std::int64_t blocks_of(const Problem& p, std::int64_t b) {
  return p.length_kv(b) / p.selected_block_size;
}

template <class Op>
Experiment<Op> permute_slots(const Trial<Op>& base) {
  Trial<Op> other = base;
  change_lists(other, [](List list, const spec::RowPosition& row) {
    std::ranges::reverse(list);
    std::ranges::rotate(list, list.begin() + row.s % std::ssize(list));
  });
  return unchanged(base, std::move(other));
}

/// Returns an experiment that reverses the order of the blocks of every sequence.
template <class Op>
Experiment<Op> permute_blocks(const Trial<Op>& base) {
  const Problem& p = base.problem;
  const Origin key = [p](const spec::RowPosition& row) {
    const std::int64_t size = p.selected_block_size, block = row.s / size;
    return spec::RowPosition{row.b, row.n, (blocks_of(p, row.b) - 1 - block) * size + row.s % size};
  };
  Experiment<Op> experiment = rearranging<Op>(base, {{p, {same_row, key}}});
  change_lists(experiment.variants[0], [&](List list, const spec::RowPosition& row) {
    for (std::int64_t& block : list) block = blocks_of(p, row.b) - 1 - block;
  });
  return experiment;
}

/// Returns an experiment with copies of the keys at the end of every sequence. If a list contains a
/// block several times, each further entry is changed to another copy of the block. In the changed
/// call, no list contains a block twice.
template <class Op>
Experiment<Op> copy_duplicates(const Trial<Op>& base) {
  const Problem& p = base.problem;
  std::int64_t copies = 1;
  Trial<Op> ranks = base;
  change_lists(ranks, [&](List list, const spec::RowPosition& row) {
    const std::vector<std::int64_t> named(list.begin(), list.end());
    for (std::size_t k = 0; k < named.size(); ++k) {
      const std::int64_t rank =
          std::count(named.begin(), named.begin() + static_cast<std::ptrdiff_t>(k), named[k]);
      copies = std::max(copies, rank + 1);
      list[k] += rank * blocks_of(p, row.b);
    }
  });
  Problem repeated = p;
  repeated.seq_kv *= copies;
  for (std::int64_t& length : repeated.lengths_kv) length *= copies;
  const Origin key = [p](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n, row.s % p.length_kv(row.b)};
  };
  Experiment<Op> experiment = rearranging<Op>(base, {{repeated, {same_row, key}}});
  experiment.variants[0].rows.topk_indices = std::move(ranks.rows.topk_indices);
  return experiment;
}

/// Returns an experiment with blocks of half the size. Each list has twice as many entries.
template <class Op>
Experiment<Op> halve_blocks(const Trial<Op>& base) {
  Trial<Op> halved = base;
  halved.problem.selected_block_size /= 2;
  halved.problem.selected_block_count *= 2;
  halved.rows.topk_indices.clear();
  for (const std::int64_t block : base.rows.topk_indices)
    halved.rows.topk_indices.insert(halved.rows.topk_indices.end(), {2 * block, 2 * block + 1});
  return unchanged(base, std::move(halved));
}

/// If a list contains a block that begins after the query, replaces this block by the last block of
/// the sequence. The mask hides both blocks from the query, so the result must not change.
template <class Op>
Experiment<Op> move_unseen(const Trial<Op>& base) {
  const Problem& p = base.problem;
  Trial<Op> other = base;
  change_lists(other, [&](List list, const spec::RowPosition& row) {
    for (std::int64_t& block : list)
      if (block * p.selected_block_size > row.s) block = blocks_of(p, row.b) - 1;
  });
  return unchanged(base, std::move(other));
}

inline bool can_halve_blocks(const Problem& p) {
  return p.selected_block_size % 32 == 0 && p.selected_block_count <= 16;
}

}  // namespace assay::conformance::selection
