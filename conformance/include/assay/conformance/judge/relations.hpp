#pragma once

#include <string_view>
#include <vector>

namespace assay::conformance {

/// Texts about a relation between several runs of one kernel. Every correct kernel satisfies the
/// relation. Cases of track relation check it.
struct RelationText {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal if a fixed order is declared; bound: within the tolerances
};

/// Returns every relation of Op, none if it has no RelationParts. cases/OPERATOR/relations.txt
/// contains cases in their domains.
template <class Op>
std::vector<RelationText> relation_texts();

}  // namespace assay::conformance
