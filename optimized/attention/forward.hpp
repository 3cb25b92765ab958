#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "attention/inputs.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Computes softmax_max, softmax_sum and attention_out. Row tiles are independent, so the result
/// does not depend on the thread count. The problem must not be empty.
///
/// The keys are processed tile by tile. When the maximum of a row grows, the sums of the row are
/// rescaled. A row starts with its sink, as if the sink were a key with value 0. The statistics
/// ignore dropout. The exponentials are rounded to the tensor type before the product with value;
/// the division by their sum follows at the end. Source: FlashAttentionScoreGrad.md (formulas).
void compute_forward(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                     const ForwardResults& results, const Tiling& tiling,
                     const tile::Kernels& kernels, std::int64_t threads);

/// Writes the results of a problem with an empty extent, as if every row were fully masked.
void fill_dead_rows(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                    const ForwardResults& results);

}  // namespace assay::optimized
