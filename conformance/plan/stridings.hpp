#pragma once

#include "assay/spec/striding.hpp"
#include "plan/factors.hpp"

namespace assay::conformance {

/// Returns the stridings (types of strides, such as padded or transposed) that random cases use.
inline Named<spec::Striding> drawn_stridings() {
  using enum spec::Striding;
  return only({contiguous, padded, transposed, mixed});
}

/// Returns the striding (type of strides) under which a test plan counts the case. If the tensors
/// have different stridings, the result is mixed. `far` counts as padded, and `columns` counts as
/// transposed.
inline spec::Striding drawn_striding_of(const spec::Strides& strides) {
  if (!strides.named().empty()) return spec::Striding::mixed;
  if (strides.all() == spec::Striding::columns) return spec::Striding::transposed;
  return strides.all() == spec::Striding::far ? spec::Striding::padded : strides.all();
}

}  // namespace assay::conformance
