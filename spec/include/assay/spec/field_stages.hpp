#pragma once

#include <span>
#include <string_view>

namespace assay::spec {

/// A stage (step of a computation) that needs a field of the call. It exists, or can fail, only if
/// the call sets this field. Example: dropout. The struct contains only names, no formulas.
struct FieldStage {
  std::string_view what;                      ///< "dropout of the P that enters dv"
  std::span<const std::string_view> outputs;  ///< the outputs that depend on the stage
  std::span<const std::string_view> fields;   ///< the fields that turn it on
  bool needs_all = false;  ///< true: another stage explains a subset of the outputs better
};

/// Returns the stages (steps of a computation) of all operators that depend on a field of the call.
/// Stages that change the fewest outputs come first.
std::span<const FieldStage> field_stages();

}  // namespace assay::spec
