#pragma once

#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/demand.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized::selected {

/// What one host thread works in.
struct ThreadTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded;
  Tile key, key_transposed, value, value_transposed;
  Tile query, dy, scores, dprob, dq;
  Tile dk, dv, dk_record, dv_record;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
};

/// Kept between runs, so that small problems do not pay for fresh memory.
struct Workspace {
  Floats dq, row_terms;
  std::vector<ThreadTiles> threads;
};

/// What one run needs beside its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
};

/// Fills the viewed elements of dq, dk and dv; returns how the lists fell on the key blocks.
/// Errors: spec::Rejected for an index that names no block of its sequence; nothing is written
/// then.
Demand compute_gradient(const spec::NsaSelectedAttentionGrad::Problem& problem,
                        const spec::NsaSelectedAttentionGrad::Inputs& inputs,
                        spec::NsaSelectedAttentionGrad::Outputs& outputs,
                        const Execution& execution);

}  // namespace assay::optimized::selected
