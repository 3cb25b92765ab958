#pragma once

#include <string>

namespace assay::conformance {

/// Returns the text as one shell word, quoted if necessary.
std::string shell_word(const std::string& text);

/// Returns a text from outside the program as one word that is safe to paste into a shell. A text
/// that `shell_word` wrote is unchanged; any other text is quoted.
std::string pasteable_word(const std::string& text);

/// Applies `pasteable_word` to each word of a text; blanks separate the words.
std::string pasteable_words(const std::string& text);

}  // namespace assay::conformance
