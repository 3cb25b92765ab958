#pragma once

#include <vector>

#include "bilinear/fixed_rows.hpp"
#include "operators/toy_operator/basis.hpp"

namespace assay::conformance {

struct Suite<spec::ToyOperator>::RelationParts : bilinear::FixedRows<spec::ToyOperator> {
  static std::vector<const Relation<Op>*> relations();
};

}  // namespace assay::conformance
