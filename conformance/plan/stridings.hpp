#pragma once

#include "assay/spec/striding.hpp"
#include "plan/factors.hpp"

namespace assay::conformance {

/// The stridings (kinds of strides) from which cases are drawn.
inline Named<spec::Striding> drawn_stridings() {
  using enum spec::Striding;
  return only({contiguous, padded, transposed, mixed});
}

/// Returns the striding under which a plan counts the case: mixed if the tensors have different
/// stridings, padded for far, transposed for columns.
inline spec::Striding drawn_striding_of(const spec::Strides& strides) {
  if (!strides.named().empty()) return spec::Striding::mixed;
  if (strides.all() == spec::Striding::columns) return spec::Striding::transposed;
  return strides.all() == spec::Striding::far ? spec::Striding::padded : strides.all();
}

}  // namespace assay::conformance
