#include "operators/toy_operator/relations/relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::ToyOperator;
using Rows = RelationParts<Op>::Rows;

/// EDIT: relations between the results of several runs. Every correct kernel must satisfy them.
constexpr Relation<Op> list[] = {
    {"scale_weight", "If weight is multiplied by a power of two, so is the output.",
     Agreement::bits, is_not_fp16, "bf16, if all values are far from overflow and underflow",
     [](const Trial<Op>& base) { return scaled(base, &Rows::second); }}};

}  // namespace

std::vector<const Relation<Op>*> Suite<Op>::RelationParts::relations() {
  return relation_list<Op>({list});
}

}  // namespace assay::conformance
