#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"

/// Helpers to build the tensors of the calls of all operators.
namespace assay::spec::detail {

/// Returns the descriptor of a contiguous tensor that is present.
inline Parameter described(DType dtype, const Shape& shape) {
  Parameter result{.present = true, .dtype = dtype, .shape = shape};
  apply_striding(result, Striding::contiguous);
  return result;
}

/// Sets the strides of a call's tensors: `outputs` for the members of Op::Outputs, `inputs` for all
/// other tensors.
template <class Outputs, class Parameters>
void apply_strides(Parameters& parameters, const Strides& inputs, const Strides& outputs) {
  if (inputs.is_contiguous() && outputs.is_contiguous()) return;
  std::vector<std::string_view> output_names;
  const Outputs names{};
  visit_fields(names, [&](std::string_view name, const auto&) { output_names.push_back(name); });
  std::int64_t number = 0;
  visit_fields(parameters, [&]<class Member>(std::string_view name, Member& member) {
    if constexpr (std::same_as<Member, Parameter>) {
      const bool is_output = std::ranges::find(output_names, name) != output_names.end();
      if (member.present) apply_striding(member, (is_output ? outputs : inputs).of(name), number);
      ++number;
    }
  });
}

/// Builds a call with all tensors of the operator (`table_of`); attributes and host arrays are
/// empty. A tensor with rank 0 is not passed.
template <class Op>
Call<Op> call_with_tensors(const typename Op::Problem& problem, typename Op::EntryPoint entry_point,
                           Product product, const Strides& inputs, const Strides& outputs) {
  Call<Op> call{.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}};
  visit_table<Op>([&](const auto& row) {
    if constexpr (requires { row.shape; }) {
      const Shape shape = row.shape(problem);
      if (!shape.empty()) call.parameters.*row.parameter = described(row.dtype(problem), shape);
    }
  });
  apply_strides<typename Op::Outputs>(call.parameters, inputs, outputs);
  return call;
}

}  // namespace assay::spec::detail
