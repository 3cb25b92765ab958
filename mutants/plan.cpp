#include "plan.hpp"

namespace assay::mutants {

spec::DType staging_type(Staging staging, spec::DType io) {
  switch (staging) {
    case Staging::fp32:
      return spec::DType::fp32;
    case Staging::bf16:
      return spec::DType::bf16;
    case Staging::io_type:
      break;
  }
  return io;
}

spec::Numerics declaration(const Plan& plan, spec::DType io) {
  return {.stage = staging_type(plan.staging, io),
          .round_stage = plan.round_stage,
          .round_out = plan.round_out,
          .overflow = plan.round_out == spec::Rounding::rtz ? spec::Overflow::saturate
                                                            : spec::Overflow::inf,
          .stats = plan.stats,
          .delta = plan.delta,
          .exp_error = plan.exponential == Exponential::polynomial ? 0x1p-20 : 0x1p-22,
          .fused = plan.exponential == Exponential::fused_exp2,
          .order = plan.order};
}

}  // namespace assay::mutants
