#pragma once

#include <span>
#include <string_view>

namespace assay::spec {

/// A stage that calls have, or that matters, only if they set a field: dropout, strides. Names, no
/// formulas.
struct FieldStage {
  std::string_view what;                      ///< "dropout in P as dv takes it"
  std::span<const std::string_view> outputs;  ///< those that depend on it
  std::span<const std::string_view> fields;   ///< those that turn it on
  bool needs_all = false;  ///< another stage explains a part of the outputs better
};

/// Those of all operators, those with fewest outputs first.
std::span<const FieldStage> field_stages();

}  // namespace assay::spec
