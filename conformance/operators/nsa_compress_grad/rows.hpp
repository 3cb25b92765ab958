#pragma once

#include <cstdint>

#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "judge/tolerance.hpp"
#include "operators/nsa_compress_grad/formula.hpp"

namespace assay::conformance::compress {

/// The windows that contribute to a row of input_grad, or to an element of weight_grad (which is
/// also a sum over channels). There are `count` rows of output_grad, each with its weight (for
/// input_grad) or with a row of input (for weight_grad).
struct Windows {
  const double* const* gradients = nullptr;
  const double* weights = nullptr;
  const double* const* inputs = nullptr;
  std::int64_t count = 0, channels = 0;
};

/// E31 to E34. Computes a row of input_grad, eight channels at a time. Returns the largest
/// magnitude that a kernel may have in its intermediate results.
template <engine::Instructions instructions>
double read_input_row(engine::CompiledFor<instructions>, const Call& call, const Windows& windows,
                      const engine::Output& output, double floor, const RowEntries& to);

/// E31, E32. Computes the sum of an element of weight_grad.
template <engine::Instructions instructions>
engine::Element read_weight(engine::CompiledFor<instructions>, const Call& call,
                            const Windows& windows);

}  // namespace assay::conformance::compress
