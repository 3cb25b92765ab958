#pragma once

#include <string>

namespace assay::conformance {

/// The text as one word of a shell, quoted where that is needed.
std::string shell_word(const std::string& text);

/// A text of somebody else, as a word that a shell takes for one, whatever it was meant for: what
/// `shell_word` has written stays, and anything else is quoted.
std::string pasteable_word(const std::string& text);

/// The same of words between blanks.
std::string pasteable_words(const std::string& text);

}  // namespace assay::conformance
