#include "printing/coloured.hpp"

#include <cctype>
#include <cstdlib>
#include <string_view>

#include "assay/conformance/result/verdict.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::cli {
namespace {

std::string_view colour_of(conformance::Verdict verdict) {
  switch (conformance::contribution(verdict)) {
    case conformance::ExitCode::conformant:
      return "\x1b[32m";
    case conformance::ExitCode::nonconformant:
      return "\x1b[31m";
    default:
      return "\x1b[33m";
  }
}

bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Returns the word in the colour of its verdict if the word is a verdict. Otherwise returns the
/// unchanged word.
std::string message_of(const std::string& word) {
  for (const auto& [verdict, name] : spec::spellings_of<conformance::Verdict>.entries)
    if (name == word) return std::string(colour_of(verdict)) + word + "\x1b[0m";
  return word;
}

}  // namespace

std::string coloured(const std::string& line) {
  std::string result, word;
  for (const char letter : line + '\n') {
    if (is_of_word(letter)) {
      word += letter;
      continue;
    }
    result += message_of(word) + letter;
    word.clear();
  }
  result.pop_back();
  return result;
}

bool wants_colour(bool is_terminal) {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return is_terminal && value("NO_COLOR").empty() && value("TERM") != "dumb";
}

int ColouredLines::overflow(int letter) {
  if (letter == traits_type::eof()) return 0;
  line_ += static_cast<char>(letter);
  if (letter == '\n') sync();
  return to_ ? letter : traits_type::eof();
}

int ColouredLines::sync() {
  to_ << coloured(line_) << std::flush;
  line_.clear();
  return to_ ? 0 : -1;
}

}  // namespace assay::cli
