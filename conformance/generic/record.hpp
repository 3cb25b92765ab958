#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/record.hpp"

namespace assay::conformance {
namespace detail {

/// "(2, 3)".
std::string shape_text(const spec::Shape& shape);

void copy_elements(const spec::Tensor& from, spec::Tensor& to);

/// Errors: std::invalid_argument if there is none of that name.
const spec::Tensor& find(const std::vector<fixtures::NamedTensor>& tensors,
                         const std::string& name);

/// Refuses a tensor that is none of `outputs`.
template <class Outputs>
void require_names(const Outputs& outputs, const std::vector<fixtures::NamedTensor>& tensors) {
  std::vector<std::string> names;
  std::string list;
  visit_tensors(outputs, [&](const char* name, const spec::Tensor&) {
    names.emplace_back(name);
    list += (list.empty() ? "" : ", ") + names.back();
  });
  for (const auto& named : tensors)
    if (std::ranges::find(names, named.name) == names.end())
      throw std::invalid_argument("'" + named.name + "' is no output; there are " + list);
}

inline fixtures::Field field(std::int64_t value) { return value; }
inline fixtures::Field field(double value) { return value; }
inline fixtures::Field field(const std::vector<std::int64_t>& values) { return values; }
template <spec::Spelled Enum>
fixtures::Field field(Enum value) {
  return std::string(spec::to_string(value));
}

}  // namespace detail

template <class Op>
fixtures::CaseRecord recipe(const Case<Op>& c) {
  const std::string command = command_line(c);
  fixtures::CaseRecord record{.id = case_id(command),
                              .operator_name = std::string(Op::name),
                              .surface = std::string(spec::to_string(c.surface)),
                              .product = std::string(spec::to_string(c.product)),
                              .command = command,
                              .profile = c.profile,
                              .track = std::string(spec::to_string(c.track)),
                              .seed = c.seed};
  visit_fields(c.problem, [&](std::string_view name, const auto& member, std::string_view) {
    record.problem.emplace_back(name, detail::field(member));
  });
  return record;
}

template <class Tensors>
std::vector<fixtures::NamedTensor> named_tensors(const Tensors& tensors) {
  std::vector<fixtures::NamedTensor> named;
  visit_tensors(tensors, [&](const char* name, const spec::Tensor& tensor) {
    named.push_back({name, tensor});
  });
  return named;
}

template <class Op>
typename Op::Outputs outputs_from(const Case<Op>& c, const std::vector<fixtures::NamedTensor>& tensors) {
  typename Op::Outputs outputs = make_outputs(c);
  detail::require_names(outputs, tensors);
  visit_tensors(outputs, [&](const char* name, spec::Tensor& output) {
    const spec::Tensor& given = detail::find(tensors, name);
    if (given.shape != output.shape)
      throw std::invalid_argument(std::string(name) + " has shape " + detail::shape_text(given.shape) +
                                  ", wanted " + detail::shape_text(output.shape));
    if (given.dtype != output.dtype)
      throw std::invalid_argument(std::string(name) + " has dtype " +
                                  std::string(spec::to_string(given.dtype)) + ", wanted " +
                                  std::string(spec::to_string(output.dtype)));
    detail::copy_elements(given, output);
  });
  return outputs;
}

template <class Op>
std::vector<fixtures::ExpectedTensor> stored_expected(Examination<Op>& examination,
                                                      const spec::NumericsProfile& numerics,
                                                      const std::string& profile_name) {
  std::vector<fixtures::ExpectedTensor> stored;
  for (auto& expected : examination.expected(numerics))
    stored.push_back({.name = std::move(expected.name),
                      .profile = profile_name,
                      .value = std::move(expected.value),
                      .radius = std::move(expected.radius),
                      .tau = std::move(expected.tau),
                      .rows = std::move(expected.rows),
                      .dim = expected.dim,
                      .dtype = examination.examined().problem.dtype});
  return stored;
}

}  // namespace assay::conformance
