#pragma once

#include <span>
#include <string_view>

namespace assay::spec {

/// A stage (step) of a computation that exists only in calls that set a certain field, such as
/// dropout, or can fail only in such calls. The struct contains names only, no formulas.
struct FieldStage {
  std::string_view what;                      ///< "dropout of the P that enters dv"
  std::span<const std::string_view> outputs;  ///< the outputs that depend on the stage
  std::span<const std::string_view> fields;   ///< the fields that turn it on
  bool needs_all = false;  ///< true: another stage explains a subset of the outputs better
};

/// The field stages of all operators. The stages that change the fewest outputs come first.
std::span<const FieldStage> field_stages();

}  // namespace assay::spec
