#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/units.hpp"
#include "assay/optimized/buffer.hpp"

namespace assay::optimized {

/// The tile sizes of a block of scores and its products on a cube (matrix) core and its vector
/// cores.
struct BlockPlan {
  std::int64_t rows = 0, columns = 0;  ///< of a block of scores; multiples of 16
  std::int64_t record_tiles = 0;       ///< row tiles whose dk and dv are summed in L0C
  std::int64_t l1_depth = 0,
               l0_depth = 0;     ///< depth of an operand in one L1 or L0 buffer
  std::int64_t slice = 0;        ///< columns of a product in one L0C buffer
  std::int64_t vector_rows = 0;  ///< rows of a block that a vector core processes at a time
  bool keys_stay = false;        ///< key and value of a key tile stay in L1
  std::vector<Buffer> buffers;
  device::Bytes l1, l0a, l0b, l0c, ub;  ///< peak occupancy
};

/// Formats the tile sizes, then one line per buffer, then the peak use of each memory.
std::string to_text(const BlockPlan& plan);

}  // namespace assay::optimized
