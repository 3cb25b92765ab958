#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/lanes.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::flash {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// E16. Effective number of independent channels: (tr C)^2 / tr(C^2) of C = X^T X, from at most 512
/// evenly spaced rows.
double effective_channels(std::span<const double* const> rows, std::int64_t dim);

/// The numbers of an element of which E19 to E26 make tolerance and deviation; of one, or of eight
/// side by side.
template <Numbers V>
struct SumsOf {
  V ref, magnitude, rig, azuma, linear, squares, core, drift;
  double terms;           ///< n, length of the last sum
  V constants = {};       ///< what roundings that all pairs share add, at most
  V scaled_operand = {};  ///< 2 u_k |scale| sum s|K| + 2 eta_k sum s, dq only
  V partials = {};        ///< sum over heads |partial| with 16-bit partials
  double heads = 0;       ///< their number
  V floor = {};           ///< Phi
};
using ElementSums = SumsOf<double>;

/// What an `Expectation` has of elements.
template <Numbers V>
struct Finished {
  V value, radius, tau, tau_det, sigma, floor, drift, core, accumulation, extra;
};

/// E22. Returns what rounding the parts of a sum to 16 bits adds.
template <Numbers V>
[[gnu::always_inline]] inline V partial_error(const Arithmetic& n, const SumsOf<V>& s,
                                              const V& core) {
  if (n.numerics.partials == spec::DType::fp32) return V{};
  const V error = n.u_out * s.partials + 2.0 * n.u_out * (engine::magnitude_of(s.ref) + core) +
                  (s.heads + 2) * n.eta_out;
  return s.magnitude > 0.0 ? error : V{};
}

/// E26. Returns sigma^2, of which `part` is what partial_error says.
template <Numbers V>
[[gnu::always_inline]] inline V element_variance(const Arithmetic& n, const SumsOf<V>& s,
                                                 const V& part) {
  using engine::square;
  const V size = engine::magnitude_of(s.ref);
  const V h_o = n.of_out.half_ulp(size, engine::leading_power(size));
  // Residues of masked pairs are as large as the floor; they matter where |ref| is barely larger.
  // What all pairs share is one error, no matter of chance: it is taken at its largest.
  return s.core / 3.0 + square(s.linear) / 81.0 + square(s.constants) +
         square(n.u_a) * (s.terms / 3.0) * (square(s.ref) + s.squares) + h_o * h_o / 3.0 +
         2.0 * square(n.u_x) * s.squares / 3.0 + part * part / 6.0 +
         square(s.scaled_operand / 2.0) / 3.0 + 4.0 * square(n.u * s.ref) / 3.0 + square(s.floor);
}

/// E19 to E26 of an element, `lambda` for the whole tensor.
template <Numbers V>
[[gnu::always_inline]] inline Finished<V> finished(const Arithmetic& n, double lambda,
                                                   const SumsOf<V>& s) {
  // Roundings that are known are not random: where all P are alike they are one, and add up.
  const V prob = probable_error(s.drift, lambda, s.azuma, s.linear);
  const V core = core_error(s.rig, prob, n.mean_free), size = engine::magnitude_of(s.ref);
  const V total = s.magnitude + s.rig;
  const double worst = worst_chain(s.terms);
  const double likely =
      n.mean_free && !n.truncating_sums ? probable_chain(worst, s.terms, lambda) : worst;
  const V acc_det = worst * n.u_a * total, acc = likely * n.u_a * total;
  const V part = partial_error(n, s, core);
  const V extra = 2.0 * n.u_x * total + s.scaled_operand + 2.0 * n.u * size + part + s.floor;
  // Scores so large that their errors overflow: nothing is known of the element, which blinds the
  // controls.
  const auto known = [](const V& limit) __attribute__((always_inline)) {
    return limit != limit ? V{} + HUGE_VAL : limit;
  };
  return {.value = s.ref,
          .radius = known(reference_radius(s.rig, acc_det) + 0x1p-52 * size),
          .tau = known(tolerance_of(n, size, core, acc, extra)),
          .tau_det = known(tolerance_of(n, size, s.rig, acc_det, extra)),
          .sigma = engine::root_of(element_variance(n, s, part)),
          .floor = s.floor,
          .drift = s.drift,
          .core = core,
          .accumulation = acc,
          .extra = extra};
}

}  // namespace assay::conformance::flash
