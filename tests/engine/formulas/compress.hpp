#pragma once

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"

/// NsaCompressGrad as the engine reads it: every element of both gradients is a sum of products of
/// two exact numbers, each rounded to the type in which a kernel stages it.
namespace assay::engine::compress {

/// One product, w g of input_grad or g x of weight_grad.
template <class On, class V>
[[gnu::always_inline]] inline auto product(On& on, const Store& stage, const V& a, const V& b) {
  return on.staged(on.exact(a * b), stage);
}

}  // namespace assay::engine::compress
