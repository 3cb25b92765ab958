#pragma once

#include <span>
#include <vector>

#include "assay/conformance/compression/suite.hpp"
#include "bilinear/operands.hpp"
#include "compression/relations/arrangements.hpp"
#include "compression/traits.hpp"
#include "inputs/packed_rows.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance::compression {

/// Returns a tensor with these values. For a weight, the values have the order of the tensor's
/// elements.
spec::Tensor tensor_of_rows(const spec::Parameter& parameter, const Problem& problem,
                            const spec::Extents& extents, const std::vector<double>& values);

/// Returns the function that computes the extents of an input in memory order. For a weight this
/// differs from extents_of: weight (w, n) is row (w, n, 0), as in the tensor.
ExtentsOf extents_of_values(RowKind kind);

Origin Origins::*origin_of(RowKind kind);

/// The data of one run that relations (statements about several runs) read or change.
/// judge/relations/trial.hpp describes the members.
template <class Op>
struct RelationPartsOf : PlainRelationParts<Op> {
  using Rows = typename Traits<Op>::Rows;
  using Origins = compression::Origins;

  static std::span<const Operand<Op>> operands() {
    static const auto all = [] {
      std::vector<Operand<Op>> operands;
      for (const auto& t : Traits<Op>::inputs)
        operands.push_back(
            {t.name, t.values, extents_of_values(t.kind), origin_of(t.kind), tensor_of_rows});
      return operands;
    }();
    return all;
  }
  static std::span<const ComparedOutput<Op>> outputs() {
    static const auto all = [] {
      std::vector<ComparedOutput<Op>> gradients;
      for (const auto& t : Traits<Op>::outputs)
        gradients.push_back({t.name, extents_of(t.kind), origin_of(t.kind),
                             [](const Problem&, const spec::Tensor& tensor, const spec::Extents& e)
                                 -> ElementIndex { return bilinear::index_of(tensor, e); }});
      return gradients;
    }();
    return all;
  }
  /// Returns the relations (statements about several runs) of this operator alone, followed by the
  /// common relations of compression/relations/rearranging.hpp.
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Problem& problem, const typename Op::Inputs& inputs) {
    return Traits<Op>::rows_of(problem, inputs);
  }
  static Trial<Op> rearranged(const Trial<Op>& base, const Problem& problem,
                              const Origins& origins) {
    return {.problem = problem,
            .rows = moved_rows(base, problem, origins),
            .inputs = base.inputs,
            .outputs = base.outputs};
  }
  /// Returns 0, because computing the bounds (tolerances) costs less than a run of the kernel.
  static double cost_of_bounds(const Problem&) { return 0; }
};

}  // namespace assay::conformance::compression
