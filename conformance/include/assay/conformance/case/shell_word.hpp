#pragma once

#include <string>

namespace assay::conformance {

/// The text as one word for a shell, quoted if necessary.
std::string shell_word(const std::string& text);

/// A text from outside the program, as one word that is safe to paste into a shell. A text that
/// `shell_word` wrote is unchanged; any other text is quoted.
std::string pasteable_word(const std::string& text);

/// Does the same for each word of a text, with blanks as separators.
std::string pasteable_words(const std::string& text);

}  // namespace assay::conformance
