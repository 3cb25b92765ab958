#pragma once

#include "selection/problem.hpp"

namespace assay::conformance::selection {

inline double elements(const spec::Extents& e) {
  return static_cast<double>(e.rows()) * static_cast<double>(e.dim);
}

inline double mask_bytes(const Problem& p) {
  if (p.atten_mask == spec::SelectedMask::absent) return 0;
  return static_cast<double>(spec::element_count(mask_shape(p)));
}

}  // namespace assay::conformance::selection
