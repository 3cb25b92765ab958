#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// The word among `others` that `word` most likely stands for: the same in other letters, the usual
/// name elsewhere ("float32" for "fp32"), at most two letters away, or begun. Empty where none is.
std::string nearest(std::string_view word, const std::vector<std::string>& others);

}  // namespace assay::conformance
