#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Creates a tensor as `parameter` describes it, and fills its whole storage with the guard pattern
/// of its type. For floats the pattern is a NaN.
spec::Tensor guarded_tensor(const spec::Parameter& parameter);

/// Copies a tensor bit by bit into the strides and offset of `parameter`. `parameter` must have the
/// tensor's type and shape. The rest of the storage contains the guard pattern.
spec::Tensor restrided(const spec::Tensor& tensor, const spec::Parameter& parameter);

/// Returns the poison of this type: the bit pattern of a NaN that no kernel computes. Poison shows
/// which elements a kernel has not written.
std::uint32_t poison_of(spec::DType dtype);

/// Creates a tensor as `parameter` describes it, and fills its whole storage with poison (a NaN
/// pattern), including the viewed elements.
spec::Tensor poisoned_tensor(const spec::Parameter& parameter);

/// Calls visit(documented name, tensor) for every tensor that is present in the inputs or outputs.
template <class Tensors, class Visitor>
void visit_tensors(Tensors& tensors, Visitor&& visit) {
  visit_fields(tensors, [&](const char* name, auto& member) {
    if constexpr (requires { member->bytes; }) {
      if (member) visit(name, *member);
    } else {
      visit(name, member);
    }
  });
}

/// Returns the tensor with this documented name; null if it is absent.
template <class Tensors>
const spec::Tensor* find_tensor(const Tensors& tensors, std::string_view name) {
  const spec::Tensor* found = nullptr;
  visit_tensors(tensors, [&](std::string_view one, const spec::Tensor& tensor) {
    if (one == name) found = &tensor;
  });
  return found;
}

/// Returns the input tensors of a case of track bound (judged with tolerances). The input profile
/// (the distribution of values) and the strides are those of the case.
template <class Op>
typename Op::Inputs make_inputs(const Case<Op>& c) {
  return Suite<Op>::draw(c);
}

/// Creates the output tensors of the call, with the strides of the case: one for each output
/// parameter, and those that Suite<Op>::add_outputs adds. The whole storage contains poison (a NaN
/// pattern), including the viewed elements.
template <class Op>
typename Op::Outputs make_outputs(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  typename Op::Outputs outputs;
  visit_fields(outputs, [&](std::string_view name, auto& member) {
    visit_fields(call.parameters, [&]<class Described>(std::string_view own, const Described& p) {
      if constexpr (std::same_as<Described, spec::Parameter>)
        if (own == name && p.present) member = poisoned_tensor(p);
    });
  });
  if constexpr (requires { Suite<Op>::add_outputs(c, outputs); })
    Suite<Op>::add_outputs(c, outputs);
  return outputs;
}

/// Returns the row numbers to judge, in ascending order: either all rows, or the first row, the
/// last row, rows at tile edges and random rows.
std::vector<std::int64_t> judged_rows(std::int64_t extent, std::int64_t wanted, std::uint64_t seed);

}  // namespace assay::conformance
