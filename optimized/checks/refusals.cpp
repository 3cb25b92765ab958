#include "checks/refusals.hpp"

#include <array>
#include <charconv>

namespace assay::optimized {

using spec::DType;
using spec::Format;

std::string text_of(const spec::Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

std::string text_of(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string shape_of(const NamedParameter& tensor) {
  return "shape of " + std::string(tensor.name) + " is " + text_of(tensor.parameter->shape);
}

std::string type_of(const NamedParameter& tensor) {
  return "type of " + std::string(tensor.name) + " is " +
         std::string(to_string(tensor.parameter->dtype));
}

Refusal unless(bool holds, const std::string& refusal) {
  return holds ? std::nullopt : Refusal(refusal);
}

Refusal within(const std::string& what, std::int64_t value, std::int64_t low, std::int64_t high) {
  return unless(low <= value && value <= high, what + " is " + std::to_string(value) +
                                                   "; it must be " + std::to_string(low) + " to " +
                                                   std::to_string(high));
}

Refusal at_least(const std::string& what, std::int64_t value, std::int64_t low) {
  return unless(value >= low, what + " is " + std::to_string(value) + "; it must be at least " +
                                  std::to_string(low));
}

Refusal first_missing(std::initializer_list<RequiredArgument> arguments) {
  for (const auto& [name, given] : arguments)
    if (!given) return std::string(name) + " is null; it is required";
  return std::nullopt;
}

Refusal first_outside(std::initializer_list<NamedParameter> tensors,
                      std::initializer_list<DType> legal) {
  for (const NamedParameter& tensor : tensors) {
    if (!is_given(*tensor.parameter)) continue;
    std::string choices;
    bool found = false;
    for (const DType dtype : legal) {
      found = found || tensor.parameter->dtype == dtype;
      choices += (choices.empty() ? "" : " or ") + std::string(to_string(dtype));
    }
    if (!found) return type_of(tensor) + "; it must be " + choices;
  }
  return std::nullopt;
}

Refusal first_unlike(const NamedParameter& model, std::initializer_list<NamedParameter> tensors) {
  const DType expected = model.parameter->dtype;
  for (const NamedParameter& tensor : tensors)
    if (is_given(*tensor.parameter) && tensor.parameter->dtype != expected)
      return type_of(tensor) + ", that of " + std::string(model.name) + " is " +
             std::string(to_string(expected)) + "; they must be equal";
  return std::nullopt;
}

Refusal first_unlike_query(const spec::Parameter& query,
                           std::initializer_list<NamedParameter> tensors) {
  return first_unlike({"query", &query}, tensors);
}

Refusal first_private(std::span<const NamedParameter> tensors) {
  for (const auto& [name, parameter] : tensors) {
    const Format format = parameter->format;
    if (is_given(*parameter) &&
        (format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz))
      return "format of " + std::string(name) + " is " + std::string(to_string(format)) +
             "; it must be ND";
  }
  return std::nullopt;
}

Refusal shape_is(const NamedParameter& tensor, const spec::Shape& expected) {
  return unless(tensor.parameter->shape == expected,
                shape_of(tensor) + "; it must be " + text_of(expected));
}

}  // namespace assay::optimized
