#pragma once

#include <cstdint>

#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "bilinear/arithmetic.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::bilinear {

/// The pairs of rows whose products belong to a row of an output: `count` rows `right`, each with a
/// factor (in a sum that does not contract) or with a row `left` (in one that does).
struct Pairs {
  const double* factors = nullptr;
  const double* const* left = nullptr;
  const double* const* right = nullptr;
  std::int64_t count = 0, channels = 0;
};

/// E31 to E34. Computes a row of factors times rows, eight channels at a time. Returns the largest
/// magnitude that a kernel may have in its intermediate results.
template <engine::Instructions instructions>
double read_row(engine::CompiledFor<instructions>, const Call& call, const Pairs& pairs,
                const engine::Output& output, double floor, const RowEntries& to);

/// E31, E32. Computes the sum of rows times rows over all channels.
template <engine::Instructions instructions>
engine::Element read_contraction(engine::CompiledFor<instructions>, const Call& call,
                                 const Pairs& pairs);

}  // namespace assay::conformance::bilinear
