#pragma once

#include <vector>

#include "case/reduction.hpp"

/// Reductions that the operators of attention share.
namespace assay::conformance {

/// Fewer key heads, first with one query head each, then fewer query heads of each.
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
