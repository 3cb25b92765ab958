#pragma once

#include <span>
#include <vector>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "assay/reference/sparse_flash_attention_grad.hpp"
#include "attention/relations/experiments.hpp"
#include "operators/sparse_flash_attention_grad/basis.hpp"

namespace assay::conformance {

struct Suite<spec::SparseFlashAttentionGrad>::RelationParts
    : PlainRelationParts<spec::SparseFlashAttentionGrad> {
  using Rows = reference::SparseFlashOperands<double>;
  using Origins = attention::Origins;

  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static void add_side(const Trial<Op>& trial, const Op::Parameters& call, Op::Inputs& inputs);
  /// Moves each query together with its list. The heads of a token share one list.
  static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem& problem,
                              const Origins& origins);
  static double cost_of_bounds(const Op::Problem& problem);
};

}  // namespace assay::conformance
