#pragma once

#include <cstddef>
#include <vector>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::compress {

/// Rows of input and input_grad, starting at one token. If the channels of a row are adjacent, the
/// rows are in the tensors, otherwise in buffers. The members named step are distances between rows
/// (bytes).
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

/// One slice of the channels of one head, in one tile of tokens.
struct Column {
  std::int64_t n, channels;
  TokenRows rows;
  Tile output_grad, chains;
};

/// The buffers of one host thread: tiles of input, output_grad and input_grad, and the chains
/// (partial sums) of every weight.
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

/// Computes the viewed elements of input_grad and weight_grad. The problem must not be empty.
void compute_gradient(const spec::NsaCompressGrad::Problem& problem,
                      const spec::NsaCompressGrad::Inputs& inputs,
                      spec::NsaCompressGrad::Outputs& outputs, const Execution& execution);

}  // namespace assay::optimized::compress
