#pragma once

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/attendance.hpp"

namespace assay::conformance::lattice {

/// The lattice case of `c`, its queries attending to what `attendance` says instead of a mask. The
/// inputs hold no mask. Errors: NoLattice.
LatticeCase attending(const Case<spec::FlashAttentionScoreGrad>& c,
                      const spec::NumericsProfile& numerics, const Attendance& attendance);

}  // namespace assay::conformance::lattice
