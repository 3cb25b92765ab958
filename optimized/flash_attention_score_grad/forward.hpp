#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Fills softmax_max, softmax_sum and attention_in from the other inputs. Row tiles are
/// independent: threads change no bit. The problem has no empty extent.
///
/// Key tile by key tile, a row's sums are rescaled when its maximum grows. Statistics are those of
/// the probabilities before dropout; these enter the product with value in the type of the tensors,
/// not yet divided by their sum.
/// Source: FlashAttentionScoreGrad.md (formulas).
void compute_forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                     spec::FlashAttentionScoreGrad::Inputs& inputs, const Tiling& tiling,
                     const tile::Kernels& kernels, std::int64_t threads);

/// The same where no query has a key: every row is dead.
void fill_dead_rows(spec::FlashAttentionScoreGrad::Inputs& inputs);

}  // namespace assay::optimized
