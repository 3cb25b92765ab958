#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// Returns the entry of `others` that `word` most likely means. Candidates are the same word in
/// upper or lower case, another common name ("float32" for "fp32"), a word at an edit distance of
/// at most two, or a word that starts with `word`. Returns an empty text if no entry is similar.
std::string nearest(std::string_view word, const std::vector<std::string>& others);

}  // namespace assay::conformance
