#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/spec/call.hpp"

namespace assay::optimized {

/// What is wrong with a call; nothing if it is right.
using Refusal = std::optional<std::string>;

/// A tensor of a call and its documented name.
struct NamedParameter {
  std::string_view name;
  const spec::Parameter* parameter;
};

/// An argument and whether the caller gave it.
struct RequiredArgument {
  std::string_view name;
  bool given;
};

/// An optional tensor that is null or has rank 0 is absent.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// "[2, 3]".
std::string text_of(const spec::Shape& shape);
/// The shortest text that reads back as `value`.
std::string text_of(double value);
/// "shape of query is [2, 3]".
std::string shape_of(const NamedParameter& tensor);

Refusal unless(bool holds, const std::string& refusal);
/// Whether low <= value <= high.
Refusal within(const std::string& what, std::int64_t value, std::int64_t low, std::int64_t high);
Refusal at_least(const std::string& what, std::int64_t value, std::int64_t low);
/// The first argument that is missing.
Refusal first_missing(std::initializer_list<RequiredArgument> arguments);
/// The first given tensor whose type is none of `legal`; the first whose type is not that of
/// `model`, or of query.
Refusal first_outside(std::initializer_list<NamedParameter> tensors,
                      std::initializer_list<spec::DType> legal);
Refusal first_unlike(const NamedParameter& model, std::initializer_list<NamedParameter> tensors);
Refusal first_unlike_query(const spec::Parameter& query,
                           std::initializer_list<NamedParameter> tensors);
/// "type of query is fp16".
std::string type_of(const NamedParameter& tensor);
/// The first tensor in a private storage format.
Refusal first_private(std::span<const NamedParameter> tensors);
Refusal shape_is(const NamedParameter& tensor, const spec::Shape& expected);

}  // namespace assay::optimized
