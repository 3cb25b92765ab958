#pragma once

#include <vector>

#include "case/reduction.hpp"

/// Ways to shrink a case, common to all attention operators.
namespace assay::conformance {

/// Returns smaller cases for shrinking. The first have fewer key heads (first with one query head
/// per key head, then with the whole group), the last have fewer query heads per key head.
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

}  // namespace assay::conformance
