#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Fills softmax_max, softmax_sum and attention_in from the other inputs. Row tiles are
/// independent. The result therefore does not depend on the thread count. The problem must not be
/// empty.
///
/// The keys are processed tile by tile. When the maximum of a row grows, its sums are rescaled. The
/// statistics ignore dropout. The exponentials are rounded to the tensor type before the product
/// with value; the division by their sum follows at the end. Source: FlashAttentionScoreGrad.md
/// (formulas).
void compute_forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                     spec::FlashAttentionScoreGrad::Inputs& inputs, const Tiling& tiling,
                     const tile::Kernels& kernels, std::int64_t threads);

/// Fills softmax_max, softmax_sum and attention_in of a problem without keys: every row is fully
/// masked.
void fill_dead_rows(spec::FlashAttentionScoreGrad::Inputs& inputs);

}  // namespace assay::optimized
