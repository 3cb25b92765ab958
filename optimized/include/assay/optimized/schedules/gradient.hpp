#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/attention.hpp"

namespace assay::optimized::schedules {

/// What is computed of a round on the edge of a causal mask: all of it, or its tiles with a pair
/// that is kept; or rounds are cut from the stream of such tiles.
enum class Masked { whole, tiles, stream };

/// How scores, dP, P and dS lie in global memory: by rows, or in the tiles of the cube, between
/// which and rows the vector cores copy.
enum class Exchange { rows, tiles };

/// How a gradient cuts its work. A round of rows x columns tiles of 128 x 128 scores is what a cube
/// core and its vector cores exchange at a time: the cube core computes scores and dP of a round,
/// then dq, dk and dv of the round before, while the vector cores make P and dS of the one between.
struct Round {
  std::int64_t rows = 4, columns = 4;
  std::int64_t group = 2;           ///< row tiles that are loaded at once for scores and dP
  bool keys_stay = false;           ///< the keys of a round stay in L1 for all of its dq
  std::int64_t dscore_columns = 0;  ///< columns whose dS stays in L1 for dq and dk; 0: read twice
  std::int64_t row_buffers = 4, column_buffers = 4, score_buffers = 4;  ///< tiles in L1
  std::int64_t vector_buffers = 1, vector_tile = 8192;  ///< of each kind, and numbers in one
  Masked masked = Masked::tiles;
  Exchange exchange = Exchange::rows;

  std::string to_text() const;
};

/// Schedules of the gradient that the vendor publishes (device facts, sections 4.3 and 4.4).
Round basic();
Round same_ab();

/// Time of the gradient with the passes before and behind it. No row of the validation table that
/// is a gradient's has any part in it.
/// Errors: device::DeviceFault, naming the buffer and its limit, if a round does not fit.
Modelled model(const Attention& attention, const Round& round, const device::Spec& device);

/// Our own order: the products of scores and dP of a round stand between those of dq, dk and dv of
/// the round before, so that drains of the one kind run beside products of the other; vector cores
/// follow a step of a column behind. Sums keep one buffer of L0C, scores have two of half the
/// width; a half of a column stays in L0B for all rows of its group.
struct Woven {
  std::int64_t rows = 4, columns = 4;  ///< tiles of a round
  std::int64_t group = 2;              ///< rows whose query and dy stay in L1 while columns pass
  std::int64_t stream = 2;             ///< halves of tiles of key and value in L1
  std::int64_t score_buffers = 6;      ///< halves of tiles of P and dS in L1
  std::int64_t steps = 4;  ///< columns of scores and of dP that global memory holds at a time
  std::int64_t vector_buffers = 1, vector_tile = 8192;

  /// Tiles in L1 that stay while dq, dk or dv of a round is computed.
  std::int64_t stay() const { return std::max(rows, columns); }
  std::string to_text() const;
};

/// Errors: device::DeviceFault, naming the buffer and its limit, if it does not fit.
Modelled model(const Attention& attention, const Woven& woven, const device::Spec& device);

/// What each memory holds, of each core or, in L2, of all of them.
/// Errors: device::DeviceFault, naming the buffer and its limit, if it does not fit.
std::vector<Buffer> buffers_of(const Attention& attention, const Round& round,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Attention& attention, const Woven& woven,
                               const device::Spec& device);

/// The instructions of so many rounds on one core.
device::Program program_of(const Attention& attention, const Round& round,
                           const device::Spec& device, std::int64_t rounds);
device::Program program_of(const Attention& attention, const Woven& woven,
                           const device::Spec& device, std::int64_t rounds);

}  // namespace assay::optimized::schedules
