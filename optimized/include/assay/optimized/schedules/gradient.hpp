#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/attention.hpp"

namespace assay::optimized::schedules {

/// How much of an iteration is computed if the causal diagonal crosses it. whole: every tile;
/// tiles: only the tiles with an unmasked pair; stream: only such tiles, packed so that all
/// iterations are full.
enum class Masked { whole, tiles, stream };

/// The layout of scores, dP, P and dS in global memory. rows: row by row. tiles: in the tile format
/// of the cube core; the vector cores then convert between tiles and rows.
enum class Exchange { rows, tiles };

/// A schedule of the gradient that consists of iterations. An iteration covers rows x columns tiles
/// of 128 x 128 scores. The cube core computes scores and dP of an iteration, then dq, dk and dv of
/// the iteration before it; between these two steps, the vector cores compute P and dS of an
/// iteration.
struct Round {
  std::int64_t rows = 4, columns = 4;
  std::int64_t group = 2;           ///< row tiles that are loaded together for scores and dP
  bool keys_stay = false;           ///< an iteration's keys stay in L1 for its dq
  std::int64_t dscore_columns = 0;  ///< columns whose dS stays in L1 for dq and dk; 0: read twice
  std::int64_t row_buffers = 4, column_buffers = 4, score_buffers = 4;  ///< tiles in L1
  /// Number of buffers of each kind, and size of a buffer (numbers)
  std::int64_t vector_buffers = 1, vector_tile = 8192;
  Masked masked = Masked::tiles;
  Exchange exchange = Exchange::rows;

  std::string to_text() const;
};

/// The schedules of the gradient that the vendor published.
Round basic();
Round same_ab();

/// Returns the modelled time of the gradient, including the passes over global memory before and
/// after the iterations. No gradient row of the validation table was used to calibrate the model.
/// Errors: device::DeviceFault, naming the buffer and its limit, if an iteration does not fit.
Modelled model(const Attention& attention, const Round& round, const device::Spec& device);

/// Our own schedule. It alternates two kinds of products: those for scores and dP of an iteration,
/// and those for dq, dk and dv of the iteration before it. While products of one kind are computed,
/// the results of the other kind are written to global memory. The vector cores follow one column
/// step later. In L0C, gradients have one buffer, and scores have two buffers of half that width.
/// In L0B, half a column tile stays for all row tiles of the group.
struct Woven {
  std::int64_t rows = 4, columns = 4;  ///< number of row tiles and column tiles of an iteration
  std::int64_t group = 2;              ///< rows whose query and dy stay in L1 for all columns
  std::int64_t stream = 2;             ///< half tiles of key and value in L1
  std::int64_t score_buffers = 6;      ///< half tiles of P and dS in L1
  std::int64_t steps = 4;              ///< columns of score and dP tiles in global memory
  std::int64_t vector_buffers = 1, vector_tile = 8192;

  /// The number of tiles that stay in L1 while dq, dk or dv of an iteration is computed.
  std::int64_t stay() const { return std::max(rows, columns); }
  std::string to_text() const;
};

/// Returns the modelled time. Errors: device::DeviceFault, naming the buffer and its limit, if the
/// schedule does not fit.
Modelled model(const Attention& attention, const Woven& woven, const device::Spec& device);

/// Returns the buffers of each memory: L2 buffers are for all cores, the other ones for one core.
/// Errors: device::DeviceFault, naming the buffer and its limit, if the schedule does not fit.
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
