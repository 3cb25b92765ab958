#pragma once

#include "assay/engine/blocks/product.hpp"

namespace assay::engine {

/// The matrix products for one instruction set.
struct ProductKernels {
  void (*in_double)(const Product<double>& product);
  void (*in_float)(const Product<float>& product);
};

extern const ProductKernels portable_products;
extern const ProductKernels avx2_products;
extern const ProductKernels avx512_products;

/// Returns the matrix products for the given instruction set. Errors: std::invalid_argument if this
/// machine does not support the instruction set.
const ProductKernels& kernels(Instructions instructions);

}  // namespace assay::engine
