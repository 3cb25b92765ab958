#pragma once

#include <cstdint>

namespace assay::bench {

/// The operands of a matrix product c = a b, row-major. If `transposed`, a is stored with the shape
/// (depth, rows). T is double or float.
template <class T>
struct PlainProduct {
  const T *a, *b;
  T* c;
  std::int64_t rows, columns, depth;
  bool transposed;
};

// Computes one matrix product with the library Eigen. There is one such function for each
// instruction set.
[[gnu::visibility("default")]] void product_avx512(const PlainProduct<double>& product);
[[gnu::visibility("default")]] void product_avx512(const PlainProduct<float>& product);
[[gnu::visibility("default")]] void product_avx2(const PlainProduct<double>& product);
[[gnu::visibility("default")]] void product_avx2(const PlainProduct<float>& product);
[[gnu::visibility("default")]] void product_portable(const PlainProduct<double>& product);
[[gnu::visibility("default")]] void product_portable(const PlainProduct<float>& product);

}  // namespace assay::bench
