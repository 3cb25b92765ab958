#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::conformance {

/// Creates a stored case with replay line and fields, but without tensors.
template <class Op>
fixtures::CaseRecord recipe(const Case<Op>& c);

/// Copies the input or output tensors of an operator, with their documented names.
template <class Tensors>
std::vector<fixtures::NamedTensor> named_tensors(const Tensors& tensors);

/// Creates the outputs of the case from the elements of `tensors`, as if a kernel had written them.
/// Errors: std::invalid_argument with the tensor that is missing, unknown, or has the wrong shape
/// or dtype.
template <class Op>
typename Op::Outputs outputs_from(const Case<Op>& c,
                                  const std::vector<fixtures::NamedTensor>& tensors);

/// Returns the reference after the final cast of a kernel with these numerics (declared
/// arithmetic); shape (rows, dim), type `dtype`. If the cast may return either of two numbers,
/// `round_dyadic` selects one.
spec::Tensor rounded_rows(const Expected& expected, spec::DType dtype,
                          const spec::Numerics& numerics);

/// Returns the element type of an output. Statistics are fp32 for every type of the problem.
/// Outputs that no parameter describes, the gradients of a formula, are fp32, too.
template <class Op>
spec::DType dtype_of_output(const Case<Op>& c, std::string_view output) {
  spec::DType dtype = spec::DType::fp32;
  const auto call = call_of(c);
  visit_fields(call.parameters, [&]<class Member>(std::string_view name, const Member& parameter) {
    if constexpr (std::same_as<Member, spec::Parameter>)
      if (name == output) dtype = parameter.dtype;
  });
  // The gradients that are sums over a part have another type than the problem.
  if constexpr (requires(typename Op::Outputs all) { Suite<Op>::add_outputs(c, all); }) {
    typename Op::Outputs added;
    Suite<Op>::add_outputs(c, added);
    const spec::Tensor* const tensor = find_tensor(added, output);
    if (tensor != nullptr && !tensor->shape.empty()) dtype = tensor->dtype;
  }
  return dtype;
}

/// Converts the references of outputs to the form in which a store keeps them. `dtype_of` returns
/// the type of an output.
using DTypeOf = std::function<spec::DType(std::string_view output)>;
std::vector<fixtures::ExpectedTensor> stored_expected(std::vector<Expected> expected,
                                                      const DTypeOf& dtype_of,
                                                      const spec::Numerics& numerics,
                                                      const std::string& profile_name);

}  // namespace assay::conformance
