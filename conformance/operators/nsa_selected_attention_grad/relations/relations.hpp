#pragma once

#include <span>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "selection/relations/lists.hpp"
#include "selection/relations/parts.hpp"

namespace assay::conformance {

struct selected::RelationParts : selection::RelationPartsOf<spec::NsaSelectedAttentionGrad> {
  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static double cost_of_bounds(const Op::Problem& problem);
};

namespace selected {

using Op = spec::NsaSelectedAttentionGrad;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;
using Relation = conformance::Relation<Op>;
using Piece = conformance::Piece<Op>;

/// Relations (statements about several runs) that change list entries, the order of a list, or how
/// often it contains a block.
std::span<const Relation> list_relations();
/// Relations (statements about several runs) that permute rows or split the call.
std::span<const Relation> rearranging_relations();
/// Relations (statements about several runs) that scale, add or shift input values.
std::span<const Relation> arithmetic_relations();

}  // namespace selected
}  // namespace assay::conformance
