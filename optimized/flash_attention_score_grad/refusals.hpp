#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flash_attention_score_grad/call_extents.hpp"

namespace assay::optimized {

/// What is wrong with a call; nothing if it is right.
using Refusal = std::optional<std::string>;

/// A tensor of a call and its documented name.
struct NamedParameter {
  std::string_view name;
  const spec::Parameter* parameter;
};

inline std::string shape_of(const NamedParameter& tensor) {
  return "shape of " + std::string(tensor.name) + " is " + text_of(tensor.parameter->shape);
}

inline Refusal unless(bool holds, const std::string& refusal) {
  return holds ? std::nullopt : Refusal(refusal);
}

/// Whether low <= value <= high.
inline Refusal within(const std::string& what, std::int64_t value, std::int64_t low,
                      std::int64_t high) {
  return unless(low <= value && value <= high, what + " is " + std::to_string(value) +
                                                   "; it must be " + std::to_string(low) + " to " +
                                                   std::to_string(high));
}

inline Refusal at_least(const std::string& what, std::int64_t value, std::int64_t low) {
  return unless(value >= low,
                what + " is " + std::to_string(value) + "; it must be at least " +
                    std::to_string(low));
}

/// The shortest text that reads back as `value`.
inline std::string text_of(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace assay::optimized
