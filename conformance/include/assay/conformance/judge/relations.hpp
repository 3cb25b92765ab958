#pragma once

#include <string_view>
#include <vector>

namespace assay::conformance {

/// Texts about a relation: a property of several runs of a kernel that every correct kernel has.
/// Cases of the track (test method) `relation` check it.
struct RelationText {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal if a fixed order is declared; bound: within the tolerances
};

/// Returns every relation of Op. Returns an empty list if Op has no RelationParts.
/// cases/OPERATOR/relations.txt contains cases to which the relations apply.
template <class Op>
std::vector<RelationText> relation_texts();

}  // namespace assay::conformance
