#pragma once

#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/demand.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized::selected {

/// The buffers of one host thread.
struct ThreadTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded;
  Tile key, key_transposed, value, value_transposed;
  Tile query, dy, scores, dprob, dq;
  Tile dk, dv, dk_record, dv_record;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
};

/// Memory that is reused between runs, so that small problems do not allocate it every time.
struct Workspace {
  Floats dq, row_terms;
  std::vector<ThreadTiles> threads;
};

/// The arguments of one run in addition to its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
};

/// Computes the viewed elements of dq, dk and dv. Returns how often key blocks are listed. Errors:
/// spec::Rejected if an index is not a block of its sequence; in this case, nothing is written.
Demand compute_gradient(const spec::NsaSelectedAttentionGrad::Problem& problem,
                        const spec::NsaSelectedAttentionGrad::Inputs& inputs,
                        spec::NsaSelectedAttentionGrad::Outputs& outputs,
                        const Execution& execution);

}  // namespace assay::optimized::selected
