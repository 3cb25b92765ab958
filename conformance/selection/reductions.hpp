#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/conformance/selection/suite.hpp"
#include "attention/reductions.hpp"
#include "case/lengths.hpp"
#include "case/reduction.hpp"
#include "selection/problem.hpp"

/// Steps that make a failing case of block-selected attention smaller.
namespace assay::conformance::selection {

using Lengths = std::vector<std::int64_t>;

/// Returns a smaller case. Each sequence has at most the given number of queries and keys. It keeps
/// complete blocks, and at least as many keys as a list needs.
template <class Op>
Case<Op> cut(Case<Op> c, std::int64_t most_queries, std::int64_t most_keys) {
  Problem& p = c.problem;
  Lengths of_queries = all_lengths(p, &Problem::length_q);
  Lengths of_keys = all_lengths(p, &Problem::length_kv);
  for (std::int64_t& length : of_queries) length = std::min(length, most_queries);
  const std::int64_t size = p.selected_block_size;
  for (std::int64_t& length : of_keys)
    length = std::max(std::min(length, most_keys) / size * size, listed_keys(p));
  set_lengths(p, of_queries, of_keys);
  return c;
}

/// Returns cases with shorter lists, two for each list length: one with only as many keys as a list
/// contains, and one with all keys.
template <class Op>
std::vector<Case<Op>> fewer_blocks(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const std::int64_t count : values_below(c.problem.selected_block_count, 1)) {
    Case<Op> fewer = c;
    fewer.problem.selected_block_count = count;
    cases.push_back(cut(fewer, c.problem.seq_q, listed_keys(fewer.problem)));
    cases.push_back(fewer);
  }
  return cases;
}

/// Returns cases with smaller blocks. Every sequence keeps its number of blocks.
template <class Op>
std::vector<Case<Op>> smaller_blocks(const Case<Op>& c) {
  constexpr std::int64_t smallest = 16;
  const std::int64_t size = c.problem.selected_block_size;
  std::vector<Case<Op>> cases;
  for (std::int64_t smaller = smallest; smaller < size; smaller += smallest) {
    Case<Op> other = c;
    Lengths of_keys = all_lengths(c.problem, &Problem::length_kv);
    for (std::int64_t& length : of_keys) length = length / size * smaller;
    other.problem.selected_block_size = smaller;
    set_lengths(other.problem, all_lengths(c.problem, &Problem::length_q), of_keys);
    cases.push_back(std::move(other));
  }
  return cases;
}

template <class Op>
std::vector<Case<Op>> smaller_heads(const Case<Op>& c) {
  constexpr std::int64_t narrow = 128;
  std::vector<Case<Op>> cases(2, c);
  cases[0].problem.head_dim = cases[0].problem.head_dim_v = narrow;
  cases[1].problem.head_dim_v = narrow;
  return cases;
}

template <class Op>
std::vector<Case<Op>> no_mask(const Case<Op>& c) {
  std::vector<Case<Op>> cases(2, c);
  cases[0].problem.sparse_mode = 0;
  cases[0].problem.atten_mask = spec::SelectedMask::absent;
  cases[0].problem.mask_dtype = spec::DType::boolean;
  cases[1].problem.mask_dtype = spec::DType::boolean;
  return cases;
}

template <class Op>
std::vector<Case<Op>> plain_lists(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const char* lists : {"identity", "ascending", "shuffled"}) {
    if (c.patterns.lists == lists) break;
    cases.push_back(c);
    cases.back().patterns.lists = lists;
  }
  return cases;
}

template <class Op>
std::vector<Case<Op>> unit_scale(const Case<Op>& c) {
  std::vector<Case<Op>> cases = {c};
  cases[0].problem.scale_value = 1;
  return cases;
}

}  // namespace assay::conformance::selection
