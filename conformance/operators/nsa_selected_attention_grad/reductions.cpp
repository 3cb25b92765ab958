#include "attention/reductions.hpp"

#include <algorithm>
#include <utility>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "case/lengths.hpp"
#include "case/reduction.hpp"
#include "operators/nsa_selected_attention_grad/plan/draws.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using selected::listed_keys;
using selected::SelectedCase;
using Lengths = std::vector<std::int64_t>;

SelectedCase with_sequences(SelectedCase c, const SequenceChoice& kept) {
  Op::Problem& p = c.problem;
  const Lengths of_queries = kept.of(all_lengths(p, &Op::Problem::length_q));
  const Lengths of_keys = kept.of(all_lengths(p, &Op::Problem::length_kv));
  set_lengths(p, of_queries, of_keys);
  return c;
}

std::vector<SelectedCase> without_sequences(const SelectedCase& c) {
  std::vector<SelectedCase> cases;
  for (const SequenceChoice& kept : fewer_sequences(c.problem.batch))
    cases.push_back(with_sequences(c, kept));
  return cases;
}

/// Returns the case with at most this many queries and keys per sequence. Keys are cut to whole
/// blocks, and to no fewer than a list needs.
SelectedCase cut(SelectedCase c, std::int64_t most_queries, std::int64_t most_keys) {
  Op::Problem& p = c.problem;
  Lengths of_queries = all_lengths(p, &Op::Problem::length_q);
  Lengths of_keys = all_lengths(p, &Op::Problem::length_kv);
  for (std::int64_t& length : of_queries) length = std::min(length, most_queries);
  const std::int64_t size = p.selected_block_size;
  for (std::int64_t& length : of_keys)
    length = std::max(std::min(length, most_keys) / size * size, listed_keys(p));
  set_lengths(p, of_queries, of_keys);
  return c;
}

std::vector<SelectedCase> fewer_queries(const SelectedCase& c) {
  std::vector<SelectedCase> cases;
  for (const std::int64_t most : values_below(c.problem.seq_q, 1))
    cases.push_back(cut(c, most, c.problem.seq_kv));
  return cases;
}

std::vector<SelectedCase> fewer_keys(const SelectedCase& c) {
  std::vector<SelectedCase> cases;
  for (const std::int64_t most : values_below(c.problem.seq_kv, listed_keys(c.problem)))
    cases.push_back(cut(c, c.problem.seq_q, most));
  return cases;
}

/// Returns cases with shorter lists: for each list length, one case with only as many keys as are
/// listed, and one with all keys.
std::vector<SelectedCase> fewer_blocks(const SelectedCase& c) {
  std::vector<SelectedCase> cases;
  for (const std::int64_t count : values_below(c.problem.selected_block_count, 1)) {
    SelectedCase fewer = c;
    fewer.problem.selected_block_count = count;
    cases.push_back(cut(fewer, c.problem.seq_q, listed_keys(fewer.problem)));
    cases.push_back(fewer);
  }
  return cases;
}

/// Returns cases with smaller blocks; every sequence keeps its number of blocks.
std::vector<SelectedCase> smaller_blocks(const SelectedCase& c) {
  constexpr std::int64_t smallest = 16;
  const std::int64_t size = c.problem.selected_block_size;
  std::vector<SelectedCase> cases;
  for (std::int64_t smaller = smallest; smaller < size; smaller += smallest) {
    SelectedCase other = c;
    Lengths of_keys = all_lengths(c.problem, &Op::Problem::length_kv);
    for (std::int64_t& length : of_keys) length = length / size * smaller;
    other.problem.selected_block_size = smaller;
    set_lengths(other.problem, all_lengths(c.problem, &Op::Problem::length_q), of_keys);
    cases.push_back(std::move(other));
  }
  return cases;
}

std::vector<SelectedCase> smaller_heads(const SelectedCase& c) {
  constexpr std::int64_t narrow = 128;
  std::vector<SelectedCase> cases(2, c);
  cases[0].problem.head_dim = cases[0].problem.head_dim_v = narrow;
  cases[1].problem.head_dim_v = narrow;
  return cases;
}

std::vector<SelectedCase> no_mask(const SelectedCase& c) {
  std::vector<SelectedCase> cases(2, c);
  cases[0].problem.sparse_mode = 0;
  cases[0].problem.atten_mask = spec::SelectedMask::absent;
  cases[0].problem.mask_dtype = spec::DType::boolean;
  cases[1].problem.mask_dtype = spec::DType::boolean;
  return cases;
}

std::vector<SelectedCase> plain_lists(const SelectedCase& c) {
  std::vector<SelectedCase> cases;
  for (const char* lists : {"identity", "ascending", "shuffled"}) {
    if (c.patterns.lists == lists) break;
    cases.push_back(c);
    cases.back().patterns.lists = lists;
  }
  return cases;
}

std::vector<SelectedCase> unit_scale(const SelectedCase& c) {
  std::vector<SelectedCase> cases = {c};
  cases[0].problem.scale_value = 1;
  return cases;
}

}  // namespace

std::span<const Reduction<Op>> Suite<Op>::reductions() {
  static constexpr Reduction<Op> all[] = {
      {"fewer sequences", without_sequences}, {"fewer queries", fewer_queries},
      {"fewer blocks", fewer_blocks},         {"fewer keys", fewer_keys},
      {"smaller blocks", smaller_blocks},     {"fewer heads", fewer_heads<Op>},
      {"smaller heads", smaller_heads},       {"no mask", no_mask},
      {"plain lists", plain_lists},           {"scale 1", unit_scale}};
  return all;
}

std::span<const std::string_view> Suite<Op>::fields_of_reductions() {
  static constexpr std::string_view names[] = {"batch",
                                               "heads_q",
                                               "heads_kv",
                                               "seq_q",
                                               "seq_kv",
                                               "lengths_q",
                                               "lengths_kv",
                                               "head_dim",
                                               "head_dim_v",
                                               "selected_block_size",
                                               "selected_block_count",
                                               "lists",
                                               "scale_value"};
  return names;
}

}  // namespace assay::conformance
