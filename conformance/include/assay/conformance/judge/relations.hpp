#pragma once

#include <string_view>
#include <vector>

namespace assay::conformance {

/// What is said of a relation between runs of one kernel that every correct kernel fulfils: what
/// track relation examines.
struct RelationText {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal where a fixed order is declared; bound: within the tolerances
};

/// Returns every relation of Op. Cases of their domains: cases/OPERATOR/relations.txt.
template <class Op>
std::vector<RelationText> relation_texts();

}  // namespace assay::conformance
