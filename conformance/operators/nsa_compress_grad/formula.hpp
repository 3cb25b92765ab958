#pragma once

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"

/// What a kernel of the compression computes of an element, and how it rounds: the one text from
/// which reference, radius and tolerances are read (engine/README.md).
namespace assay::conformance::compress {

/// What all elements of a call have in common.
struct Call {
  engine::Units units;
  engine::Store stage;  ///< of products
  engine::Store part;   ///< of what a window contributes
};

/// E31. A product as it is staged: w g of input_grad, g x of weight_grad.
template <class On, class V>
[[gnu::always_inline]] inline auto product(On& on, const Call& call, const V& a, const V& b) {
  return on.staged(on.exact(a * b), call.stage);
}

/// E32. What a window contributes: a product, or a sum that took so many additions, of products
/// whose magnitudes add up to `magnitude`; rounded before it is added to those of other windows.
template <class On, class Number, class V>
[[gnu::always_inline]] inline auto contribution(On& on, const Call& call, const Number& sum,
                                                const V& magnitude, double additions) {
  return on.stored(sum, call.part, on.magnitude(sum) + additions * call.units.u_sum * magnitude);
}

}  // namespace assay::conformance::compress
