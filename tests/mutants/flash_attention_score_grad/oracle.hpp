#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {

/// A gradient in double, row after row as `Extents::row` counts them.
struct ExactGradient {
  spec::Extents extents;
  std::vector<double> values;
};

/// Random tensors of one call with the statistics and the output of an exact forward, and its exact
/// gradients: the formulas pair by pair, for the tests of the plain kernel alone.
struct Sample {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashAttentionScoreGrad::Inputs inputs;
  spec::FlashAttentionScoreGrad::Outputs outputs;  ///< of the right shapes, holding NaN
  std::vector<ExactGradient> expected;             ///< dq, dk, dv, and with rope dq_rope, dk_rope
};

Sample sample_of(const Geometry& geometry, spec::DType dtype, std::uint64_t seed);

/// Largest |error| of all gradients over the largest exact value of the same one; infinite if one
/// is not finite.
double worst_error(const Sample& sample, const spec::FlashAttentionScoreGrad::Outputs& outputs);

}  // namespace assay::mutants
