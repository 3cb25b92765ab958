#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {

/// A gradient in double, row by row in the order of `Extents::row`.
struct ExactGradient {
  spec::Extents extents;
  std::vector<double> values;
};

/// Random tensors of one call with the statistics and the output of an exact forward, and its exact
/// gradients, computed by the formulas pair by pair. Only the tests of the plain kernel use it.
struct Sample {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashAttentionScoreGrad::Inputs inputs;
  spec::FlashAttentionScoreGrad::Outputs outputs;  ///< of the right shapes, filled with NaN
  std::vector<ExactGradient> expected;             ///< dq, dk, dv, and with rope dq_rope, dk_rope
};

Sample sample_of(const Geometry& geometry, spec::DType dtype, std::uint64_t seed);

/// The largest |error| of all gradients, divided by the largest exact value of the same gradient;
/// infinite if an element is not finite.
double worst_error(const Sample& sample, const spec::FlashAttentionScoreGrad::Outputs& outputs);

}  // namespace assay::mutants
