#pragma once

#include <cstdint>
#include <vector>

#include "case/lengths.hpp"
#include "case/reduction.hpp"

/// Steps that make a failing case smaller, common to all attention operators.
namespace assay::conformance {

/// Returns cases with fewer heads. First come cases with fewer key heads: for each number of key
/// heads, one case with one query head per key head, and one with the original number. Then come
/// cases with fewer query heads per key head.
template <class Op>
std::vector<Case<Op>> fewer_heads(const Case<Op>& c) {
  const std::int64_t group = c.problem.group(), heads_kv = c.problem.heads_kv;
  std::vector<Case<Op>> cases;
  const auto add = [&](std::int64_t kv, std::int64_t per_kv) {
    cases.push_back(c);
    cases.back().problem.heads_kv = kv;
    cases.back().problem.heads_q = kv * per_kv;
  };
  for (const std::int64_t kv : values_below(heads_kv, 1)) {
    if (group > 1) add(kv, 1);
    add(kv, group);
  }
  for (const std::int64_t per_kv : values_below(group, 1)) add(heads_kv, per_kv);
  return cases;
}

/// Returns cases that contain only some of the sequences.
template <class Op>
std::vector<Case<Op>> without_sequences(const Case<Op>& c) {
  using Problem = typename Op::Problem;
  std::vector<Case<Op>> cases;
  for (const SequenceChoice& kept : fewer_sequences(c.problem.batch)) {
    cases.push_back(c);
    set_lengths(cases.back().problem, kept.of(all_lengths(c.problem, &Problem::length_q)),
                kept.of(all_lengths(c.problem, &Problem::length_kv)));
  }
  return cases;
}

/// Returns cases with fewer queries, or with fewer keys. `cut(c, queries, keys)` returns a case
/// with at most these numbers in each sequence. `least(problem)` returns the smallest allowed
/// number of keys in a sequence.
template <class Op, auto cut>
std::vector<Case<Op>> fewer_queries(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const std::int64_t most : values_below(c.problem.seq_q, 1))
    cases.push_back(cut(c, most, c.problem.seq_kv));
  return cases;
}
template <class Op, auto cut, auto least>
std::vector<Case<Op>> fewer_keys(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const std::int64_t most : values_below(c.problem.seq_kv, least(c.problem)))
    cases.push_back(cut(c, c.problem.seq_q, most));
  return cases;
}

}  // namespace assay::conformance
