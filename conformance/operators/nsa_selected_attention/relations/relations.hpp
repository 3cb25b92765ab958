#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "assay/reference/selection.hpp"
#include "attention/lse.hpp"
#include "selection/relations/parts.hpp"

namespace assay::conformance {

struct selected_forward::RelationParts : selection::RelationPartsOf<spec::NsaSelectedAttention> {
  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static OutputValues compared_values(OutputValues values, const spec::Numerics& numerics) {
    return attention::compared_statistics(std::move(values), numerics);
  }
  static bool has_exact_bits(std::string_view output, const spec::Numerics& numerics) {
    return attention::has_exact_bits(output, numerics);
  }
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs);
  static double cost_of_bounds(const Op::Problem& problem);
};

}  // namespace assay::conformance
