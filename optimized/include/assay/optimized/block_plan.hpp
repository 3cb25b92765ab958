#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/units.hpp"
#include "assay/optimized/buffer.hpp"

namespace assay::optimized {

/// How a block of scores and the products around it are cut for a cube core and its vector cores.
struct BlockPlan {
  std::int64_t rows = 0, columns = 0;  ///< of a block of scores, multiples of 16
  std::int64_t record_tiles = 0;       ///< row tiles whose dk and dv stay in L0C
  std::int64_t l1_depth = 0,
               l0_depth = 0;     ///< inner extent of a matrix operand held in one L1, one L0 buffer
  std::int64_t slice = 0;        ///< columns of a product that one L0C buffer holds
  std::int64_t vector_rows = 0;  ///< rows of a block that a vector core holds at a time
  bool keys_stay = false;        ///< key and value of a key tile stay in L1
  std::vector<Buffer> buffers;
  device::Bytes l1, l0a, l0b, l0c, ub;  ///< peak occupancy
};

/// The cuts, then one line per buffer, then the peaks.
std::string to_text(const BlockPlan& plan);

}  // namespace assay::optimized
