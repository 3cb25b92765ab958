#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"
#include "assay_plugin.h"

namespace assay::adapters {

/// A list of named values, as the C interface passes them to a plug-in. Strings and arrays that are
/// added must outlive this object.
class PluginValues {
 public:
  void add(const char* name, std::int64_t value) { entry(name, assay_integer).integer = value; }
  void add(const char* name, bool value) { add(name, std::int64_t{value ? 1 : 0}); }
  void add(const char* name, double value) { entry(name, assay_real).real = value; }
  void add(const char* name, const std::string& value) {
    entry(name, assay_text).text = value.c_str();
  }
  template <spec::Spelled Enum>
  void add(const char* name, Enum value) {
    add(name, spellings_.emplace_back(spec::to_string(value)));
  }
  void add(const char* name, const std::vector<std::int64_t>& values) {
    assay_value& added = entry(name, assay_integers);
    added.integers = values.data();
    added.count = std::ssize(values);
  }
  template <class T>
  void add(const char* name, const std::optional<T>& value) {
    if (value) add(name, *value);
  }

  const std::vector<assay_value>& entries() const { return entries_; }

 private:
  assay_value& entry(const char* name, assay_kind kind) {
    return entries_.emplace_back(assay_value{.name = name, .kind = kind});
  }

  std::vector<assay_value> entries_;
  std::deque<std::string> spellings_;  // a deque: its elements never move
};

/// Builds a call as the C interface passes it to a plug-in. Everything that is added must outlive
/// this object.
template <class Op>
class PluginCall {
 public:
  PluginCall() = default;
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  void add_problem(const typename Op::Problem& problem) {
    visit_fields(problem, [&](const char* name, const auto& member, const auto&) {
      problem_.add(name, member);
    });
  }
  /// Adds the entry point, the product and the attributes of a call, but not the tensors.
  void add_attributes(const spec::Call<Op>& call) {
    entry_point_ = spec::to_string(call.entry_point);
    product_ = spec::to_string(call.product);
    visit_fields(call.attributes,
                 [&](const char* name, const auto& member) { attributes_.add(name, member); });
    visit_fields(call.parameters, [&](const char* name, const auto& member) {
      if constexpr (!std::same_as<std::remove_cvref_t<decltype(member)>, spec::Parameter>)
        attributes_.add(name, member);
    });
  }
  /// Adds the tensors of a call without their elements (shape, strides and type only).
  void add_parameters(const spec::Call<Op>& call) {
    visit_fields(call.parameters, [&](const char* name, const auto& member) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, spec::Parameter>)
        if (member.present) add_parameter(name, member);
    });
  }
  /// Adds the reserved tensors of a call. Each one gets its own buffer of zeros, which the plug-in
  /// may overwrite. Also sets the formats of inputs and outputs, so it must be called after they
  /// were added.
  void add_rest(const spec::Call<Op>& call) {
    visit_fields(call.parameters, [&](const char* name, const auto& member) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, spec::Parameter>)
        if (member.present) add_or_complete(name, member);
    });
  }
  void add_inputs(const typename Op::Inputs& inputs) {
    visit_fields(inputs, [&](const char* name, const auto& member) { add(name, member, false); });
  }
  void add_outputs(typename Op::Outputs& outputs) {
    visit_fields(outputs, [&](const char* name, const auto& member) { add(name, member, true); });
  }
  /// Adds the inputs. If is_result(name) is true, the input is marked as an output, because the
  /// forward operator writes it.
  template <class IsResult>
  void add_forward(typename Op::Inputs& inputs, IsResult&& is_result) {
    visit_fields(inputs, [&](const char* name, const auto& member) {
      add(name, member, is_result(std::string_view(name)));
    });
  }

  /// Returns the call as a C struct, which is valid while this object exists.
  assay_call get() const {
    return {.operator_name = Op::name.data(),
            .entry_point = entry_point_.c_str(),
            .product = product_.c_str(),
            .tensors = tensors_.data(),
            .tensor_count = std::ssize(tensors_),
            .problem = problem_.entries().data(),
            .problem_count = std::ssize(problem_.entries()),
            .attributes = attributes_.entries().data(),
            .attribute_count = std::ssize(attributes_.entries())};
  }

 private:
  static bool is_output(std::string_view wanted) {
    typename Op::Outputs none;
    bool found = false;
    visit_fields(none,
                 [&](std::string_view name, const auto&) { found = found || name == wanted; });
    return found;
  }

  template <class Described>
  assay_tensor& add_described(const char* name, const Described& tensor) {
    return tensors_.emplace_back(
        assay_tensor{.name = name,
                     .dtype = static_cast<std::int32_t>(tensor.dtype),
                     .rank = static_cast<std::int32_t>(tensor.shape.size()),
                     .shape = tensor.shape.data(),
                     .strides = tensor.strides.data(),
                     .offset = tensor.offset,
                     .format = "ND"});
  }
  void add_parameter(const char* name, const spec::Parameter& parameter) {
    assay_tensor& added = add_described(name, parameter);
    added.format = spec::to_string(parameter.format).data();
    added.is_output = is_output(name) ? 1 : 0;
  }
  void add_or_complete(const char* name, const spec::Parameter& parameter) {
    for (assay_tensor& added : tensors_)
      if (std::string_view(added.name) == name) {
        added.format = spec::to_string(parameter.format).data();
        return;
      }
    add_parameter(name, parameter);
    const std::int64_t elements =
        spec::storage_elements(parameter.shape, parameter.strides, parameter.offset);
    auto& zeros = reserved_.emplace_back(
        static_cast<std::size_t>(std::max<std::int64_t>(0, elements) * size_of(parameter.dtype)));
    tensors_.back().storage = zeros.data();
    tensors_.back().storage_bytes = std::ssize(zeros);
  }
  /// The C struct has only a pointer to non-const data; its member is_output says whether the
  /// plug-in may write to it.
  void add(const char* name, const spec::Tensor& tensor, bool output) {
    assay_tensor& added = add_described(name, tensor);
    added.storage = const_cast<std::byte*>(tensor.bytes.data());
    added.storage_bytes = static_cast<std::int64_t>(tensor.bytes.size());
    added.is_output = output ? 1 : 0;
  }
  void add(const char* name, const std::optional<spec::Tensor>& tensor, bool output) {
    if (tensor) add(name, *tensor, output);
  }

  std::string entry_point_, product_;
  std::vector<assay_tensor> tensors_;
  std::deque<std::vector<std::byte>> reserved_;
  PluginValues problem_, attributes_;
};

}  // namespace assay::adapters
