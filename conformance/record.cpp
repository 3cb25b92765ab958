#include "generic/record.hpp"

#include <sstream>
#include <stdexcept>

namespace assay::conformance {
std::vector<std::string> case_words(const std::string& command_line,
                                    std::string_view operator_name) {
  std::istringstream stream(command_line);
  std::string word;
  stream >> word;
  if (word != operator_name)
    throw std::invalid_argument("replay line '" + command_line + "' is of '" + word +
                                "', wanted '" + std::string(operator_name) + "'");
  std::vector<std::string> words;
  while (stream >> word) words.push_back(word);
  return words;
}

}  // namespace assay::conformance
