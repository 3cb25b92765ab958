#pragma once

#include <utility>
#include <vector>

#include "judge/relations/relation.hpp"
#include "selection/problem.hpp"

/// Experiments that permute rows or split the call.
namespace assay::conformance::selection {

/// Returns an experiment that reverses the order of the queries of every sequence, together with
/// their lists.
template <class Op>
Experiment<Op> permute_queries(const Trial<Op>& base) {
  const Origin query = [p = base.problem](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n, p.length_q(row.b) - 1 - row.s};
  };
  return rearranging<Op>(base, {{base.problem, {query, same_row}}});
}

/// Returns an experiment that reverses the order of the query heads of every group (query heads
/// that read the same key head).
template <class Op>
Experiment<Op> permute_heads(const Trial<Op>& base) {
  const Origin query = [group = base.problem.group()](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n / group * group + group - 1 - row.n % group, row.s};
  };
  return rearranging<Op>(base, {{base.problem, {query, same_row}}});
}

template <class Op>
Experiment<Op> sequences_alone(const Trial<Op>& base) {
  std::vector<Piece<Op>> pieces;
  for (std::int64_t b = 0; b < base.problem.batch; ++b) {
    typename Op::Problem alone = base.problem;
    alone.batch = 1;
    alone.seq_q = base.problem.length_q(b), alone.seq_kv = base.problem.length_kv(b);
    alone.lengths_q.clear(), alone.lengths_kv.clear();
    const Origin origin = [b](const spec::RowPosition& row) {
      return spec::RowPosition{b, row.n, row.s};
    };
    pieces.push_back({alone, {origin, origin}});
  }
  return rearranging(base, std::move(pieces));
}

template <class Op>
Experiment<Op> view(const Trial<Op>& base) {
  return strided(base, spec::Striding::transposed, spec::Striding::padded);
}

inline bool has_several_key_heads(const Problem& p) { return p.heads_kv > 1; }
inline bool has_several_sequences(const Problem& p) { return p.batch > 1; }
inline bool is_grouped(const Problem& p) { return p.group() > 1; }

}  // namespace assay::conformance::selection
