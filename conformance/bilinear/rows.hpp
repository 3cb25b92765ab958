#pragma once

#include <cstdint>

#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "bilinear/arithmetic.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::bilinear {

/// The `count` pairs of rows whose products are added to one output row. Each row of the right
/// input is multiplied by a factor or, if the sum runs over channels, by a row of the left input.
struct Pairs {
  const double* factors = nullptr;
  const double* const* left = nullptr;
  const double* const* right = nullptr;
  std::int64_t count = 0, channels = 0;
};

/// Equations E31 to E34: computes an output row, which is a sum of factors times rows, with
/// channels in SIMD lanes. Returns the largest magnitude that an intermediate result of a kernel
/// may have.
template <engine::Instructions instructions>
double read_row(engine::CompiledFor<instructions>, const Call& call, const Pairs& pairs,
                const engine::Output& output, double floor, const RowEntries& to);

/// Equations E31, E32: computes the sum of the products left[c] * right[c] over all channels and
/// row pairs.
template <engine::Instructions instructions>
engine::Element read_contraction(engine::CompiledFor<instructions>, const Call& call,
                                 const Pairs& pairs);

}  // namespace assay::conformance::bilinear
