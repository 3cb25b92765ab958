#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {

/// A gradient in double, stored row by row in the order of `Extents::row`.
struct ExactGradient {
  spec::Extents extents;
  std::vector<double> values;
};

/// Random tensors for one call, with the statistics and the output of an exact forward, and with
/// the exact gradients. The formulas are evaluated for each pair of query and key. Only the tests
/// of the plain kernel use this type.
struct Sample {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashAttentionScoreGrad::Inputs inputs;
  spec::FlashAttentionScoreGrad::Outputs outputs;  ///< of the right shapes, filled with NaN
  std::vector<ExactGradient> expected;             ///< dq, dk, dv, and with rope dq_rope, dk_rope
};

Sample sample_of(const Geometry& geometry, spec::DType dtype, std::uint64_t seed);

/// Returns the largest |error| of all gradients, relative to the largest exact value of the same
/// gradient. Infinite if an element is not finite.
double worst_error(const Sample& sample, const spec::FlashAttentionScoreGrad::Outputs& outputs);

}  // namespace assay::mutants
