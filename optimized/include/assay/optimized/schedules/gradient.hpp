#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/attention.hpp"

namespace assay::optimized::schedules {

/// Which tiles of an iteration the kernel computes if the causal diagonal crosses the iteration.
/// whole: all tiles. tiles: only the tiles with an unmasked pair. stream: only such tiles, and
/// tiles of several iterations are combined so that each iteration is full.
enum class Masked { whole, tiles, stream };

/// The layout of scores, dP, P and dS in global memory. rows: row by row. tiles: in the tile format
/// of the cube (matrix) core; the vector cores then convert between tiles and rows.
enum class Exchange { rows, tiles };

/// A schedule of the gradient that consists of iterations. An iteration covers rows x columns tiles
/// of 128 x 128 scores. The cube (matrix) core computes scores and dP of an iteration, then dq, dk
/// and dv of the previous iteration. Between these two steps, the vector cores compute P and dS of
/// an iteration.
struct Round {
  std::int64_t rows = 4, columns = 4;
  std::int64_t group = 2;           ///< row tiles that are loaded together for scores and dP
  bool keys_stay = false;           ///< an iteration's keys stay in L1 for its dq
  std::int64_t dscore_columns = 0;  ///< columns whose dS stays in L1 for dq and dk; 0: read twice
  std::int64_t row_buffers = 4, column_buffers = 4, score_buffers = 4;  ///< tiles in L1
  /// Number of buffers of each kind, and size of a buffer (number of elements)
  std::int64_t vector_buffers = 1, vector_tile = 8192;
  Masked masked = Masked::tiles;
  Exchange exchange = Exchange::rows;

  std::string to_text() const;
};

/// Return the two schedules of the gradient that the vendor published.
Round basic();
Round same_ab();

/// Returns the modelled time of the gradient, including the passes over global memory before and
/// after the iterations. The model was not calibrated with measured times of gradients. Errors:
/// device::DeviceFault, naming the buffer and its limit, if an iteration does not fit.
Modelled model(const Attention& attention, const Round& round, const device::Spec& device);

/// Our own schedule of the gradient. It alternates two kinds of products: products for scores and
/// dP of an iteration, and products for dq, dk and dv of the previous iteration. While products of
/// one kind are computed, the results of the other kind are written to global memory. The vector
/// cores work one column step later than the matrix unit. In L0C, gradients have one buffer, and
/// scores have two buffers of half that width. In L0B, half a column tile stays for all row tiles
/// of the group.
struct Woven {
  std::int64_t rows = 4, columns = 4;  ///< number of row tiles and column tiles of an iteration
  std::int64_t group = 2;              ///< rows whose query and dy stay in L1 for all columns
  std::int64_t stream = 2;             ///< half tiles of key and value in L1
  std::int64_t score_buffers = 6;      ///< half tiles of P and dS in L1
  std::int64_t steps = 4;              ///< columns of score and dP tiles in global memory
  std::int64_t vector_buffers = 1, vector_tile = 8192;

  /// Returns how many tiles stay in L1 while dq, dk or dv of an iteration is computed.
  std::int64_t stay() const { return std::max(rows, columns); }
  std::string to_text() const;
};

/// Returns the modelled time of our schedule. Errors: device::DeviceFault, naming the buffer and
/// its limit, if the schedule does not fit the device.
Modelled model(const Attention& attention, const Woven& woven, const device::Spec& device);

/// Returns the buffers in each memory of the device. All cores share the buffers in L2; the buffers
/// in the other memories exist once per core. Errors: device::DeviceFault, naming the buffer and
/// its limit, if the schedule does not fit.
std::vector<Buffer> buffers_of(const Attention& attention, const Round& round,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Attention& attention, const Woven& woven,
                               const device::Spec& device);

/// Returns the instructions of `rounds` iterations on one core.
device::Program program_of(const Attention& attention, const Round& round,
                           const device::Spec& device, std::int64_t rounds);
device::Program program_of(const Attention& attention, const Woven& woven,
                           const device::Spec& device, std::int64_t rounds);

}  // namespace assay::optimized::schedules
