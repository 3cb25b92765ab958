#pragma once

#include <vector>

#include "assay/optimized/schedules/features.hpp"
#include "schedules/report.hpp"

namespace assay::optimized::schedules {

/// The tiles of a forward kernel that computes softmax attention, tile by tile of scores. The model
/// does not distinguish how the keys of a tile were chosen: they follow each other in memory, or
/// they are the keys of listed blocks.
struct ForwardTiles {
  std::int64_t rows, columns;         ///< scores of a tile; a row block has `group` row tiles
  std::int64_t keys;                  ///< of one matrix product; divides `columns`
  std::int64_t ahead;                 ///< tiles whose scores are computed before an earlier sum
  std::int64_t buffers;               ///< for each kind of operand in L1
  std::int64_t vector_tile;           ///< scores in a buffer of a vector core
  std::int64_t filled_rows;           ///< rows of a row tile that are not padding
  std::int64_t channels, channels_v;  ///< of query and key, and of value
  std::vector<device::Region> query, key, value;  ///< rows of a tile, and keys of a product
  device::Bytes results;  ///< outputs of a row block, divided by the tiles of a row block
  device::Bytes element;
  Features features = {};
  std::int64_t group = 1;
};

/// Returns the buffers in each memory. Errors: device::DeviceFault, naming the buffer and its
/// limit, if they do not fit.
std::vector<Buffer> buffers_of(const ForwardTiles& tiles, const device::Spec& device);

/// Returns the instructions of `count` tiles on one core.
device::Program program_of(const ForwardTiles& tiles, const device::Spec& device,
                           std::int64_t count);

/// Returns the modelled time if the busiest of `active` cores processes `count` tiles. Inputs and
/// outputs pass through HBM once. Errors: device::DeviceFault, as for `buffers_of`.
Modelled model(const ForwardTiles& tiles, double count, std::int64_t active, const Workload& work,
               const device::Spec& device);

}  // namespace assay::optimized::schedules
