#pragma once

#include <string_view>
#include <vector>

namespace assay::conformance {

/// Texts about a relation: a property of several runs of one kernel that every correct kernel has.
/// Cases of track relation check it.
struct RelationText {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal if a fixed order is declared; bound: within the tolerances
};

/// Returns every relation of Op; empty if Op has no RelationParts. cases/OPERATOR/relations.txt
/// contains cases to which the relations apply.
template <class Op>
std::vector<RelationText> relation_texts();

}  // namespace assay::conformance
