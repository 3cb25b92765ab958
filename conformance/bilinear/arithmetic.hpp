#pragma once

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"

/// The operations and roundings with which a kernel computes a sum of products. The engine
/// evaluates this one description as the reference, the radius (error limit of the reference) and
/// the tolerances (engine/README.md).
namespace assay::conformance::bilinear {

/// Parameters that all elements of a call share.
struct Call {
  engine::Units units;
  engine::Store stage;  ///< of products
  engine::Store part;   ///< of the contribution of a pair of rows
};

/// Equation E31: returns a product, rounded to the type in which the kernel stores intermediate
/// products.
template <class On, class V>
[[gnu::always_inline]] inline auto product(On& on, const Call& call, const V& a, const V& b) {
  return on.staged(on.exact(a * b), call.stage);
}

/// Equation E32: returns the contribution of a pair of rows to an output element, rounded before it
/// is added. `sum`: one product, or a sum of products that took `additions` additions; `magnitude`:
/// the sum of the magnitudes of these products.
template <class On, class Number, class V>
[[gnu::always_inline]] inline auto contribution(On& on, const Call& call, const Number& sum,
                                                const V& magnitude, double additions) {
  return on.stored(sum, call.part, on.magnitude(sum) + additions * call.units.u_sum * magnitude);
}

}  // namespace assay::conformance::bilinear
