#pragma once

#include <cstddef>
#include <vector>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::compress {

/// Rows of input and input_grad from a token on, `step` bytes apart: in the tensors, where a row's
/// channels lie side by side, else in tiles.
struct TokenRows {
  const std::byte* input;
  std::byte* input_grad;
  std::int64_t input_step, input_grad_step;
  tile::Storage storage;

  TokenRows from(std::int64_t row) const {
    TokenRows rows = *this;
    rows.input += row * input_step;
    rows.input_grad += row * input_grad_step;
    return rows;
  }
};

/// A column of a share in a tile of tokens.
struct Column {
  std::int64_t n, channels;
  TokenRows rows;
  Tile output_grad, chains;
};

/// What one host thread works in: tiles of input, output_grad and input_grad, and the chains of
/// every weight of some slices.
struct ThreadTiles {
  Floats storage;
  Tile input, output_grad, input_grad, chains;
  std::vector<Column> columns;  ///< of the tile in hand
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
