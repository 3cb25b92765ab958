#pragma once

#include <span>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/relations/experiments.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance {

struct selected::RelationParts : PlainRelationParts<spec::NsaSelectedAttentionGrad> {
  using Op = spec::NsaSelectedAttentionGrad;
  using Rows = reference::SelectedOperands<double>;
  using Origins = attention::Origins;

  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static void add_side(const Trial<Op>& trial, const Op::Parameters& call, Op::Inputs& inputs);

  /// Moves each query together with its list, whose entries do not change. The query heads of a
  /// group share the list of the first one.
  static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem& problem,
                              const Origins& origins);
  static double cost_of_bounds(const Op::Problem& problem);
};

namespace selected {

using Op = spec::NsaSelectedAttentionGrad;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;
using Relation = conformance::Relation<Op>;
using Piece = conformance::Piece<Op>;

inline bool is_masked(const Op::Problem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}
inline bool is_unmasked(const Op::Problem& p) { return p.sparse_mode == 0; }

/// Relations that change list entries, their order or how often a block is listed.
std::span<const Relation> list_relations();
/// Relations that permute rows, or split the call.
std::span<const Relation> rearranging_relations();
/// Relations that scale, add or shift the numbers.
std::span<const Relation> arithmetic_relations();

}  // namespace selected
}  // namespace assay::conformance
