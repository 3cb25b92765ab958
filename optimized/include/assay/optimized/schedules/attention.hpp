#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Attention of 16-bit operands as far as time depends on it; heads are those of all sequences.
struct Attention {
  std::int64_t heads = 1, heads_kv = 1;
  std::int64_t seq_q = 128, seq_kv = 128, head_dim = 128;
  bool causal = false;
  bool contiguous = true;  ///< rows of one head are adjacent: BNSD, or a layout of one head

  /// Blocks of 128 x 128 scores that hold a pair which is kept.
  std::int64_t blocks() const;
};

/// How a forward cuts its work: a block of rows is the work of a core, tiles of columns follow each
/// other; scores are computed so many tiles ahead of the product with value.
struct Forward {
  std::int64_t rows = 128, columns = 1024, ahead = 2;
};

/// Time of the forward. Vector cycles are those of row F11; nothing of L2 is missed.
Modelled model(const Attention& attention, const Forward& schedule, const device::Spec& device);

}  // namespace assay::optimized::schedules
