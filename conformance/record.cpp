#include "generic/record.hpp"

#include <cstring>
#include <sstream>

namespace assay::conformance {
namespace detail {

std::string shape_text(const spec::Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

void copy_elements(const spec::Tensor& from, spec::Tensor& to) {
  const auto sources = spec::viewed_elements(from), targets = spec::viewed_elements(to);
  const std::int64_t size = spec::size_of(to.dtype);
  for (std::size_t k = 0; k < targets.size(); ++k)
    std::memcpy(to.bytes.data() + targets[k] * size, from.bytes.data() + sources[k] * size,
                static_cast<std::size_t>(size));
}

const spec::Tensor& find(const std::vector<fixtures::NamedTensor>& tensors,
                         const std::string& name) {
  for (const auto& named : tensors)
    if (named.name == name) return named.tensor;
  throw std::invalid_argument("output '" + name + "' is absent");
}

}  // namespace detail

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
