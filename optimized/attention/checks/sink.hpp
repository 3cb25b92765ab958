#pragma once

#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"

/// Checks of the sink. On entry points without one, it is absent.
namespace assay::optimized::attention {

/// Returns whether the caller passes a tensor with elements. A tensor of shape [0] counts as null,
/// as in the vendor's code.
inline bool has_elements(const spec::Parameter& parameter) {
  return is_given(parameter) && !is_empty(parameter.shape);
}

template <class Op>
Refusal sink_type(const spec::Call<Op>& call) {
  const NamedParameter sink = {"sink", &call.parameters.sink};
  if (!is_given(*sink.parameter)) return std::nullopt;
  if (const Refusal outside = first_outside({sink}, {spec::DType::fp32})) return outside;
  return first_private({&sink, 1});
}

template <class Op>
Refusal sink_shape(const spec::Call<Op>& call) {
  const NamedParameter sink = {"sink", &call.parameters.sink};
  if (!has_elements(*sink.parameter)) return std::nullopt;
  return shape_is(sink, {extents_of(call).heads_q});
}

}  // namespace assay::optimized::attention
