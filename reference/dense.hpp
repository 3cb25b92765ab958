#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::reference {

/// Formats a shape for messages.
inline std::string text_of(const spec::Shape& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// Returns the exact elements of a tensor as a dense array, with rows in the order of
/// `spec::Extents::row`.
/// Errors: std::invalid_argument if the tensor's shape does not match `extents` in this layout.
template <class Real>
std::vector<Real> dense(const spec::Tensor& tensor, spec::Layout layout,
                        const spec::Extents& extents) {
  const spec::HeadView view(tensor, layout, extents);
  std::vector<Real> elements;
  elements.reserve(static_cast<std::size_t>(extents.rows() * extents.dim));
  std::vector<double> values(static_cast<std::size_t>(extents.dim));
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (std::int64_t s = 0; s < extents.length(b); ++s) {
        view.read_row(b, n, s, values);
        for (const double value : values) elements.push_back(static_cast<Real>(value));
      }
  return elements;
}

}  // namespace assay::reference
