#pragma once

#include <cstddef>
#include <vector>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::compress {

/// Rows of input and input_grad, starting at one token. They are in the tensors if the channels of
/// a row are adjacent, otherwise in buffers. The step members are distances between rows in bytes.
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

/// A part of a share: one slice of the channels of one head, for one tile of tokens.
struct Column {
  std::int64_t n, channels;
  TokenRows rows;
  Tile output_grad, chains;
};

/// The buffers of one host thread: tiles of input, output_grad and input_grad, and the chains of
/// every weight for the slices of a share.
struct ThreadTiles {
  Floats storage;
  Tile input, output_grad, input_grad, chains;
  std::vector<Column> columns;  ///< of the current tile
};

/// Memory that is reused between runs, so that small problems do not allocate it every time.
struct Workspace {
  Floats weights, sums;
  std::vector<ThreadTiles> threads;
};

/// The arguments of one run in addition to its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
};

/// Fills the viewed elements of input_grad and weight_grad. The problem must not be empty.
void compute_gradient(const spec::NsaCompressGrad::Problem& problem,
                      const spec::NsaCompressGrad::Inputs& inputs,
                      spec::NsaCompressGrad::Outputs& outputs, const Execution& execution);

}  // namespace assay::optimized::compress
