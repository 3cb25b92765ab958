#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// The entry of `others` that `word` most likely means. It is the same word in upper or lower case,
/// another common name ("float32" for "fp32"), a word at an edit distance of at most two, or a word
/// that starts with `word`. Empty if no entry is similar.
std::string nearest(std::string_view word, const std::vector<std::string>& others);

}  // namespace assay::conformance
