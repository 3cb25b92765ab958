#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/spec/call.hpp"

namespace assay::optimized {

/// The violation that a check found, or nothing if the call is valid.
using Refusal = std::optional<std::string>;

/// A tensor of a call and its documented name.
struct NamedParameter {
  std::string_view name;
  const spec::Parameter* parameter;
};

/// An argument that the caller must pass: its name, and whether the caller passed it.
struct RequiredArgument {
  std::string_view name;
  bool given;
};

/// Returns whether an optional tensor is present. A null tensor or a tensor of rank 0 counts as
/// absent.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// Formats a shape, such as "[2, 3]".
std::string text_of(const spec::Shape& shape);
/// Formats `value` as the shortest text from which the same number can be read back.
std::string text_of(double value);
/// Formats the start of a message, for example "shape of query is [2, 3]".
std::string shape_of(const NamedParameter& tensor);

Refusal unless(bool holds, const std::string& refusal);
/// Checks that low <= value <= high.
Refusal within(const std::string& what, std::int64_t value, std::int64_t low, std::int64_t high);
Refusal at_least(const std::string& what, std::int64_t value, std::int64_t low);
/// Returns a text about the first argument that is required but missing, or nothing.
Refusal first_missing(std::initializer_list<RequiredArgument> arguments);
/// Returns a text about the first present tensor with a type that is not in `legal`, or nothing.
Refusal first_outside(std::initializer_list<NamedParameter> tensors,
                      std::initializer_list<spec::DType> legal);
Refusal first_unlike(const NamedParameter& model, std::initializer_list<NamedParameter> tensors);
Refusal first_unlike_query(const spec::Parameter& query,
                           std::initializer_list<NamedParameter> tensors);
/// Formats the start of a message, for example "type of query is fp16".
std::string type_of(const NamedParameter& tensor);
/// Returns a text about the first tensor with a private storage format, or nothing.
Refusal first_private(std::span<const NamedParameter> tensors);
Refusal shape_is(const NamedParameter& tensor, const spec::Shape& expected);

}  // namespace assay::optimized
