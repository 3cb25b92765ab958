#pragma once

#include <bit>
#include <cstdint>

#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Computes the largest error of one rounding to a type. The error is 0 if the kernel does not
/// round to this type.
struct RoundingError {
  RoundingError(spec::DType type, spec::Rounding rounding);

  /// Returns the largest rounding error of a value with magnitude up to x.
  double operator()(double x) const { return half_ulp(x, leading_power(x)); }
  /// Equation E1. Returns the largest rounding error for one magnitude or for a SIMD vector of
  /// magnitudes. `power`: the leading powers of two of the magnitudes.
  template <class V>
  [[gnu::always_inline]] V half_ulp(const V& x, const V& power) const {
    if (relative == 0) return V{};
    const V scaled = relative * power, above = V{} + least;
    const V error = scaled < above ? above : scaled;
    const V capped = is_capped ? (error < x ? error : x) : error;
    return x > 0.0 ? capped : V{};
  }
  /// Returns 2^floor(log2 x) for a positive normal x.
  static double leading_power(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000u);
  }

  double relative, least;  ///< share of the leading power; least error, for smaller values
  bool is_capped;          ///< the rounding is not random, so its error is at most the value
};

/// The numbers for the error bounds. They follow from a kernel's numerics (declared arithmetic) and
/// from the type `io` of the tensors. Comments use the symbols of the derivation in
/// conformance/README.md.
struct Arithmetic {
  Arithmetic(const spec::Numerics& numerics, spec::DType io);

  spec::Numerics numerics;
  spec::DType io;
  double u = 0x1p-24;  ///< unit roundoff of fp32
  double u_a;          ///< unit roundoff of the accumulator
  double u_x;          ///< unit roundoff of the operands of the matrix unit
  double u_k;          ///< unit roundoff of a pre-scaled operand; 0 without one
  double eta_k;        ///< largest loss of such an operand by underflow
  double u_out;        ///< unit roundoff of `io`, and half its smallest number; 0 for fp32
  double eta_out;
  double eps_x;          ///< relative error of exp
  double phi;            ///< size of residues that count as 0
  bool truncating_sums;  ///< the mean of accumulation errors is not 0
  bool mean_free;        ///< the terms for independent roundings, R and b apply
  bool row_coherent;     ///< roundings are shared along a row: no bias test
  bool has_rough_log;    ///< the declared error of ln z in P may outweigh the final cast

  /// Returns the largest error of rounding an intermediate value with magnitude up to x.
  double stage_error(double x) const { return of_stage(x); }
  double out_error(double x) const { return of_out(x); }
  double store_s_error(double x) const { return of_score(x); }
  double store_p_error(double x) const { return of_prob(x); }
  double store_dp_error(double x) const { return of_dprob(x); }

  RoundingError of_stage, of_out, of_score, of_prob, of_dprob;
};

/// Returns the unit roundoff of fp16 or bf16. Returns 0 for fp32, because kernels compute in fp32.
double unit_roundoff(spec::DType type);

/// Returns half the smallest subnormal of fp16 or bf16: the largest error of rounding to nearest
/// near 0. Returns 0 for fp32.
double underflow_of(spec::DType type);

/// Returns the limit below which the type has so few numbers that the error of the final cast is
/// not random.
double coarsest_of(spec::DType type);

/// Returns the error that an output of this type may have near 0. Kernels compute in fp32, and
/// devices may flush numbers below 2^-126 to zero, in up to 2^16 terms of a sum. fp16 does not have
/// such small numbers; its error is half its smallest subnormal.
double output_underflow_of(spec::DType type);

/// Returns the smallest number that becomes infinity of `type` when rounded to nearest.
double overflow_threshold(spec::DType type);

/// Returns the largest finite value of `type`.
double largest_finite(spec::DType type);

}  // namespace assay::conformance
