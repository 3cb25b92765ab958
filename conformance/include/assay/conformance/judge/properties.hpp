#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// A relation between runs of one kernel that every correct kernel fulfils: what track relation
/// examines.
struct Property {
  std::string_view name, sentence, domain;
  std::string_view
      agreement;  ///< bits: equal where a fixed order is declared; bound: within the tolerances
};

/// Every relation of Op.
template <class Op>
std::vector<Property> properties();

/// Cases of the relation's domain. Errors: std::invalid_argument naming the relations there are.
template <class Op>
std::vector<Case<Op>> property_cases(std::string_view name);

}  // namespace assay::conformance
