#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// What is said of a relation between runs of one kernel that every correct kernel fulfils: what
/// track relation examines.
struct RelationText {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal where a fixed order is declared; bound: within the tolerances
};

/// Every relation of Op.
template <class Op>
std::vector<RelationText> relation_texts();

/// Cases of the domain of every relation, relation by relation. Their seeds are `seed` and the
/// numbers behind it.
template <class Op>
std::vector<Case<Op>> relation_cases(std::uint64_t seed);

/// Those of one relation. Errors: std::invalid_argument naming the relations there are.
template <class Op>
std::vector<Case<Op>> relation_cases(std::string_view name);

}  // namespace assay::conformance
