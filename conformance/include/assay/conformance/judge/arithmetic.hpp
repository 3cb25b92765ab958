#pragma once

#include <bit>
#include <cstdint>

#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Largest error of rounding to a type; none where nothing is rounded to it.
struct RoundingError {
  RoundingError(spec::DType type, spec::Rounding rounding);

  /// Of a value of magnitude up to x.
  double operator()(double x) const { return half_ulp(x, leading_power(x)); }
  /// E1. Of one magnitude or of several side by side, whose leading powers are known.
  template <class V>
  [[gnu::always_inline]] V half_ulp(const V& x, const V& power) const {
    if (relative == 0) return V{};
    const V scaled = relative * power, above = V{} + least;
    const V error = scaled < above ? above : scaled;
    const V capped = is_capped ? (error < x ? error : x) : error;
    return x > 0.0 ? capped : V{};
  }
  /// 2^floor(log2 x) for a positive normal x.
  static double leading_power(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000u);
  }

  double relative, least;  ///< of the leading power, and of whatever is smaller
  bool is_capped;          ///< by the value: a rounding that is no matter of chance gives 0 at most
};

/// Numerics as the numbers that the bounds are made of, for operators whose tensors are
/// of type `io`. Symbols in comments are those of the derivation in
/// conformance/README.md.
struct Arithmetic {
  Arithmetic(const spec::Numerics& numerics, spec::DType io);

  spec::Numerics numerics;
  spec::DType io;
  double u = 0x1p-24;  ///< unit roundoff of fp32
  double u_a;          ///< of the accumulator
  double u_x;          ///< of the operands of the matrix unit
  double u_k;          ///< of a pre-scaled operand, 0 without
  double eta_k;        ///< what such an operand loses at most where it underflows
  double u_out;        ///< unit roundoff of `io`, and half its smallest number; 0 for fp32
  double eta_out;
  double eps_x;          ///< relative error of exp
  double phi;            ///< size of residues that count as 0
  bool truncating_sums;  ///< accumulation errors have a mean
  bool mean_free;        ///< the independent-rounding members, R and b apply
  bool row_coherent;     ///< roundings shared along a row: no bias test

  /// Largest error of rounding a value of magnitude up to x when it is staged.
  double stage_error(double x) const { return of_stage(x); }
  /// Whether the final cast of about `value` has errors of known sign: a tie that goes away from
  /// zero, a subnormal.
  bool cast_is_biased(double value) const;
  /// What the final cast adds to `value`, where it rounds to nearest.
  double cast_error(double value) const;
  /// Whether the final cast of `value` gives one of the few smallest numbers, so that its error is
  /// no matter of chance.
  bool cast_is_coarse(double value) const;
  double out_error(double x) const { return of_out(x); }
  double store_s_error(double x) const { return of_score(x); }
  double store_p_error(double x) const { return of_prob(x); }
  double store_dp_error(double x) const { return of_dprob(x); }

  RoundingError of_stage, of_out, of_score, of_prob, of_dprob;
};

/// Unit roundoff of fp16 or bf16; 0 for fp32, which is never narrowed to.
double unit_roundoff(spec::DType type);

/// Half the smallest subnormal of fp16 or bf16, which a nearest rounding may lose of numbers
/// however small; 0 for fp32.
double underflow_of(spec::DType type);

/// Below this the final cast gives so few numbers that its error is no matter of chance.
double coarsest_of(spec::DType type);

/// What an output of this type may lose however small it is. A kernel computes in fp32, and devices
/// may flush numbers below 2^-126 to zero: so far as many as 2^16 terms of a sum. fp16 has no
/// numbers that small: half its smallest subnormal.
double output_underflow_of(spec::DType type);

/// From here on a nearest rounding to `type` gives infinity.
double overflow_threshold(spec::DType type);

/// Largest finite value of `type`.
double largest_finite(spec::DType type);

}  // namespace assay::conformance
