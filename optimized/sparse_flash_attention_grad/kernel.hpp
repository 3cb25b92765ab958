#pragma once

#include <cstdint>
#include <vector>

#include "assay/optimized/sparse_flash_attention_grad/tiling.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized::sparse_flash {

/// The buffers of one host thread.
struct ThreadTiles {
  Floats storage;
  std::vector<std::int64_t> keys;  ///< of the token
  Tile query, d_out, d_query;
  Tile key, key_transposed, value, value_transposed;
  Tile scores, dprob, d_key, d_value;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
};

/// Memory that is reused between runs.
struct Workspace {
  Floats sums;
  std::vector<ThreadTiles> threads;
};

/// The arguments of one run in addition to its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
};

/// Computes the viewed elements of all gradients. Returns the amount of work that the lists caused.
/// Errors: spec::Rejected if a list contains a block without visible keys; in this case, nothing is
/// written.
Demand compute_gradient(const spec::SparseFlashProblem& problem,
                        const spec::SparseFlashAttentionGrad::Inputs& inputs,
                        spec::SparseFlashAttentionGrad::Outputs& outputs,
                        const Execution& execution);

}  // namespace assay::optimized::sparse_flash
