#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/pairs.hpp"

namespace assay::conformance::flash {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// |x|^2 of `dim` channels.
double norm_squared(const double* x, std::int64_t dim);

/// E16. Effective number of independent channels: (tr C)^2 / tr(C^2) of C = X^T X, from at most 512
/// evenly spaced rows.
double effective_channels(std::span<const double* const> rows, std::int64_t dim);

/// The numbers of one element of which E19 to E26 make tolerance and deviation.
struct ElementSums {
  double ref, magnitude, rig, azuma, linear, squares, core, drift;
  double terms;               ///< n, length of the last sum
  double constants = 0;       ///< what roundings that all pairs share add, at most
  double scaled_operand = 0;  ///< 2 u_k |scale| sum s|K| + 2 eta_k sum s, dq only
  double partials = 0;        ///< sum over heads |partial| with 16-bit partials
  double heads = 0;           ///< their number
  double floor = 0;           ///< Phi
};

/// E22. Returns what rounding the parts of a sum to 16 bits adds.
double partial_error(const Arithmetic& arithmetic, const ElementSums& sums, double core);

/// E26. Returns sigma^2, of which `part` is what partial_error says.
double element_variance(const Arithmetic& arithmetic, const ElementSums& sums, double part);

/// Makes the tolerances and moments of an element from its sums.
class Finisher {
 public:
  /// `elements` of the whole tensor share the probability of a false alarm.
  Finisher(const Arithmetic& arithmetic, std::int64_t elements);

  double lambda() const { return lambda_; }
  void finish(const ElementSums& s, Expectation& e, std::size_t k) const;

 private:
  const Arithmetic& n_;
  double lambda_;
};

}  // namespace assay::conformance::flash
