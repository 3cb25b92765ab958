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

/// A tensor as `parameter` describes it; its whole storage holds the guard pattern of its type, a
/// NaN for floats.
spec::Tensor guarded_tensor(const spec::Parameter& parameter);

/// The same elements, bit by bit, with the strides and the offset that `parameter` describes, which
/// has the tensor's type and shape. The rest of the storage holds the guard pattern.
spec::Tensor restrided(const spec::Tensor& tensor, const spec::Parameter& parameter);

/// The bits of poison: a NaN of the type that no kernel computes.
std::uint32_t poison_of(spec::DType dtype);

/// A tensor as `parameter` describes it, viewed elements included filled with poison.
spec::Tensor poisoned_tensor(const spec::Parameter& parameter);

/// Calls visit(name, tensor) for every tensor of inputs or outputs that is present, by its
/// documented name.
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

/// The tensors of a case of track bound: numbers of its input profile, strided as it says.
template <class Op>
typename Op::Inputs make_inputs(const Case<Op>& c) {
  return Suite<Op>::draw(c);
}

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison
/// pattern: one for each parameter of its name that the call has.
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
  return outputs;
}

/// The rows that are judged, ascending: all, or the first, the last, those at tile edges and random
/// ones.
std::vector<std::int64_t> judged_rows(std::int64_t extent, std::int64_t wanted, std::uint64_t seed);

}  // namespace assay::conformance
