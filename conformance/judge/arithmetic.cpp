#include "assay/conformance/judge/arithmetic.hpp"

#include <algorithm>
#include <cmath>

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Rounding;

bool nearest(Rounding rounding) {
  return rounding == Rounding::rne || rounding == Rounding::rna || rounding == Rounding::unknown;
}

double accumulator_unit(spec::Accumulator accumulator) {
  switch (accumulator) {
    case spec::Accumulator::fp32:
      return 0x1p-24;
    case spec::Accumulator::fp32_truncating:
      return 0x1p-23;
    case spec::Accumulator::fp16:
      return 0x1p-11;
  }
  return 0x1p-24;
}

double operand_unit(spec::Product32 product) {
  switch (product) {
    case spec::Product32::exact:
      return 0;
    case spec::Product32::tf32:
      return 0x1p-11;
    case spec::Product32::tf32_truncating:
      return 0x1p-10;
    case spec::Product32::hf32:
      return 0x1p-12;
  }
  return 0;
}

bool narrow(DType type) { return type == DType::fp16 || type == DType::bf16; }

}  // namespace

Arithmetic::Arithmetic(const spec::Numerics& declared, DType io_type)
    : numerics(declared),
      io(io_type),
      u_a(accumulator_unit(declared.accumulator)),
      u_x(operand_unit(declared.product)),
      u_k(declared.operand_scaled ? (narrow(io_type) ? unit_roundoff(io_type) : 0x1p-24) : 0),
      eta_k(declared.operand_scaled ? underflow_of(io_type) : 0),
      u_out(unit_roundoff(io_type)),
      eta_out(underflow_of(io_type)),
      eps_x(declared.exp_error),
      phi(declared.floor),
      of_stage(declared.stage, declared.round_stage),
      of_out(io_type, declared.round_out),
      of_score(declared.store_s, Rounding::rne),
      of_prob(declared.store_p, Rounding::rne),
      of_dprob(declared.store_dp, Rounding::rne) {
  of_out.least = std::max(of_out.least, output_underflow_of(io_type));
  truncating_sums = declared.accumulator == spec::Accumulator::fp32_truncating;
  const bool staged_nearest = !narrow(declared.stage) || nearest(declared.round_stage);
  const bool cast_nearest = !narrow(io) || nearest(declared.round_out);
  const bool product_nearest = declared.product != spec::Product32::tf32_truncating;
  mean_free = staged_nearest && cast_nearest && product_nearest;
  // In a softmax row, m is the maximum and z the sum. All P of the row share one rounding error:
  // the error of m + ln z, or the error of m times a constant. This matters only if P and dS are
  // not rounded to a narrower type (a larger error), and if few queries contribute to dk and dv.
  const bool shifts_rows = !narrow(io) && (declared.lse_form || declared.fused);
  const bool takes_log = declared.lse_form || (declared.saves == spec::Saved::lse &&
                                               declared.stats == spec::Origin::own);
  has_rough_log = takes_log && declared.log_error > std::max(0x1p-22, unit_roundoff(io) / 16);
  // The row term is the sum of dy times output over the channels. Rounding errors of an output row
  // change its row term, and thereby all pairs of the row.
  const bool shares_output = declared.delta == spec::RowTerm::own_output && narrow(io);
  row_coherent = u_k > 0 || u_x > 0 || narrow(declared.store_s) || shifts_rows || shares_output ||
                 has_rough_log;
}

RoundingError::RoundingError(DType type, Rounding rounding)
    : relative((nearest(rounding) ? 1 : 2) * unit_roundoff(type)),
      least((nearest(rounding) ? 1 : 2) * underflow_of(type)),
      is_capped(rounding != Rounding::stochastic) {}

double coarsest_of(DType type) {
  constexpr double few = 16;
  // Returns 2^-126 for fp32, because for all subnormal fp32 numbers the rounding error of the cast
  // is larger than the tolerance.
  return narrow(type) ? few * 2 * underflow_of(type) : 0x1p-126;
}

double unit_roundoff(DType type) {
  return type == DType::bf16 ? 0x1p-8 : type == DType::fp16 ? 0x1p-11 : 0;
}

double underflow_of(DType type) {
  return type == DType::bf16 ? 0x1p-134 : type == DType::fp16 ? 0x1p-25 : 0;
}

double output_underflow_of(DType type) {
  constexpr double smallest_normal = 0x1p-126, terms = 0x1p16;
  return type == DType::fp16 ? underflow_of(type) : terms * smallest_normal;
}

double overflow_threshold(DType type) {
  switch (type) {
    case DType::fp16:
      return 65520;
    case DType::bf16:
      return 0x1.ffp127;
    default:
      return 0x1.ffffffp127;
  }
}

double largest_finite(DType type) {
  switch (type) {
    case DType::fp16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    default:
      return 0x1.fffffep127;
  }
}

}  // namespace assay::conformance
