#pragma once

#include <vector>

#include "assay/conformance/selection/suite.hpp"
#include "assay/reference/selection.hpp"
#include "attention/relations/experiments.hpp"
#include "inputs/packed_rows.hpp"
#include "judge/relations/relation.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selection {

/// The data of one kernel run of block-selected attention or of its gradient. A relation (a
/// statement about the results of several runs) reads or changes this data.
/// judge/relations/trial.hpp describes the members.
template <class Operator>
struct RelationPartsOf : PlainRelationParts<Operator> {
  using Op = Operator;
  using Rows = reference::SelectedOperands<double>;
  using Origins = attention::Origins;

  static void add_side(const Trial<Op>& t, const typename Op::Parameters& call,
                       typename Op::Inputs& inputs) {
    const std::vector<double> lists(t.rows.topk_indices.begin(), t.rows.topk_indices.end());
    inputs.topk_indices = packed_tensor(call.topk_indices, topk_extents(t.problem), lists);
    inputs.atten_mask =
        make_causal_mask<Op>({.problem = t.problem, .inputs = t.inputs, .outputs = t.outputs});
  }

  /// Moves each query together with its list; the entries of the list do not change. For query
  /// heads that share a key head, uses the list of the first of these heads.
  static Trial<Op> rearranged(const Trial<Op>& base, const Problem& p, const Origins& origins) {
    const Problem& old = base.problem;
    // The query heads of a group share one list. It is copied from the position of the first of
    // these heads.
    const Origin list = [&](const spec::RowPosition& row) {
      const spec::RowPosition source = origins.query({row.b, row.n * p.group(), row.s}).value();
      return spec::RowPosition{source.b, source.n / old.group(), source.s};
    };
    Trial<Op> moved{.problem = p, .rows = moved_rows(base, p, origins)};
    moved.rows.topk_indices =
        gathered(base.rows.topk_indices, topk_extents(old), topk_extents(p), list);
    return moved;
  }

 protected:
  static spec::Tensor heads(const spec::Parameter& parameter, const Problem&,
                            const spec::Extents& extents, const std::vector<double>& rows) {
    return packed_tensor(parameter, extents, rows);
  }
  static spec::Extents statistics_extents(const Problem& p) {
    spec::Extents one = query_extents(p);
    one.dim = 1;
    return one;
  }
  static ElementIndex index(const Problem&, const spec::Tensor& tensor,
                            const spec::Extents& extents) {
    return spec::HeadIndex(tensor, spec::Layout::tnd, extents);
  }
};

}  // namespace assay::conformance::selection
