#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/compression.hpp"
#include "dense.hpp"

/// Checks of the operands of NsaCompress and of its gradient. `name` is the operator's name, for
/// the message. Errors: std::invalid_argument.
namespace assay::reference {

inline void check_size(std::string_view name, std::string_view what, std::size_t size,
                       std::int64_t expected) {
  if (static_cast<std::int64_t>(size) != expected)
    throw std::invalid_argument(std::string(name) + ": " + std::string(what) + " has " +
                                std::to_string(size) + " elements, the problem needs " +
                                std::to_string(expected));
}

inline void check_window(std::string_view name, const spec::CompressionProblem& p) {
  if (p.compress_block_size < 1 || p.compress_stride < 1)
    throw std::invalid_argument(std::string(name) + ": a window of " +
                                std::to_string(p.compress_block_size) + " and a stride of " +
                                std::to_string(p.compress_stride) + ", both must be positive");
}

template <class Real>
std::vector<Real> weights_of(std::string_view name, const spec::CompressionProblem& p,
                             const spec::Tensor& tensor) {
  if (tensor.shape != weight_shape(p))
    throw std::invalid_argument(std::string(name) + ": weight has the shape " +
                                text_of(tensor.shape) + ", the problem needs " +
                                text_of(weight_shape(p)));
  std::vector<Real> weights;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    weights.push_back(static_cast<Real>(tensor.load(element)));
  return weights;
}

}  // namespace assay::reference
