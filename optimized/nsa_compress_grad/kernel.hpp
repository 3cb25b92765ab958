#pragma once

#include <vector>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::compress {

/// What one host thread works in: tiles of input, output_grad and input_grad, and the chains of
/// every weight of some slices.
struct ThreadTiles {
  Floats storage;
  Tile input, output_grad, input_grad, chains;
};

/// Kept between runs, so that small problems do not pay for fresh memory.
struct Workspace {
  Floats weights, sums;
  std::vector<ThreadTiles> threads;
};

/// What one run needs beside its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
};

/// Fills the viewed elements of input_grad and weight_grad. The problem has no empty extent.
void compute_gradient(const spec::NsaCompressGrad::Problem& problem,
                      const spec::NsaCompressGrad::Inputs& inputs,
                      spec::NsaCompressGrad::Outputs& outputs, const Execution& execution);

}  // namespace assay::optimized::compress
