#pragma once

#include <span>
#include <string_view>

namespace assay::spec {

/// A stage: a step of an operator's computation, and the outputs that depend on it. The struct
/// contains names only, no formulas.
struct Stage {
  std::string_view what;                      ///< "the sum over queries that gives dk"
  std::span<const std::string_view> outputs;  ///< by their documented names
};

/// Returns the stages (steps of the computation) of the named operator. Stages that affect the
/// fewest outputs come first. Empty for an unknown name.
std::span<const Stage> stages_of(std::string_view operator_name);

}  // namespace assay::spec
