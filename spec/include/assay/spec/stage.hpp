#pragma once

#include <span>
#include <string_view>

namespace assay::spec {

/// Part of an operator's computation, and the outputs that depend on it. Names, no formulas.
struct Stage {
  std::string_view what;                      ///< "the sum over queries that gives dk"
  std::span<const std::string_view> outputs;  ///< by their documented names
};

/// The stages of the operator of this name, those with fewest outputs first; none where it names
/// none.
std::span<const Stage> stages_of(std::string_view operator_name);

}  // namespace assay::spec
