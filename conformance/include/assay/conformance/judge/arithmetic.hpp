#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Numerics as the numbers that the bounds are made of, for operators whose tensors are
/// of type `io`. Symbols in comments are those of the derivation in
/// conformance/README.md.
struct Arithmetic {
  Arithmetic(const spec::Numerics& numerics, spec::DType io);

  spec::Numerics numerics;
  spec::DType io;
  double u = 0x1p-24;    ///< unit roundoff of fp32
  double u_a;            ///< of the accumulator
  double u_x;            ///< of the operands of the matrix unit
  double u_k;            ///< of a pre-scaled operand, 0 without
  double eta_k;          ///< what such an operand loses at most where it underflows
  double eps_x;          ///< relative error of exp
  double phi;            ///< size of residues that count as 0
  bool truncating_sums;  ///< accumulation errors have a mean
  bool mean_free;        ///< the independent-rounding members, R and b apply
  bool row_coherent;     ///< roundings shared along a row: no bias test

  /// Largest error of rounding a value of magnitude up to x when it is staged.
  double stage_error(double x) const { return half_ulp(x, numerics.stage, numerics.round_stage); }
  /// What rounding `value` when it is staged adds to it, where a kernel's value within `noise` of
  /// it is rounded alike; else, and for roundings that are not to nearest, 0.
  double stage_drift(double value, double noise) const;
  /// Whether the final cast of about `value` has errors of known sign: a tie that goes away from
  /// zero, a subnormal.
  bool cast_is_biased(double value) const;
  /// What the final cast adds to `value`, where it rounds to nearest.
  double cast_error(double value) const;
  /// Whether the final cast of `value` gives one of the few smallest numbers, so that its error is
  /// no matter of chance.
  bool cast_is_coarse(double value) const;
  double out_error(double x) const { return half_ulp(x, io, numerics.round_out); }
  double store_s_error(double x) const {
    return half_ulp(x, numerics.store_s, spec::Rounding::rne);
  }
  double store_p_error(double x) const {
    return half_ulp(x, numerics.store_p, spec::Rounding::rne);
  }
  double store_dp_error(double x) const {
    return half_ulp(x, numerics.store_dp, spec::Rounding::rne);
  }

 private:
  static double half_ulp(double x, spec::DType type, spec::Rounding rounding);
};

/// Unit roundoff of fp16 or bf16; 0 for fp32, which is never narrowed to.
double unit_roundoff(spec::DType type);

/// Half the smallest subnormal of fp16 or bf16, which a nearest rounding may lose of numbers
/// however small; 0 for fp32.
double underflow_of(spec::DType type);

/// From here on a nearest rounding to `type` gives infinity.
double overflow_threshold(spec::DType type);

/// Largest finite value of `type`.
double largest_finite(spec::DType type);

}  // namespace assay::conformance
