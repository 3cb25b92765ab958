#pragma once

#include <string>

#include "assay/optimized/schedules/attention.hpp"

namespace assay::optimized::schedules {

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
  bool clears_sums = true;  ///< a pass sets the sums to zero before all of them are added to

  std::string to_text() const;
};

/// Schedules of the gradient that the vendor publishes (device facts, sections 4.3 and 4.4).
Round basic();
Round same_ab();

/// Time of the gradient with the passes before and behind it. No row of the validation table that
/// is a gradient's has any part in it.
/// Errors: device::DeviceFault, naming the buffer and its limit, if a round does not fit.
Modelled model(const Attention& attention, const Round& round, const device::Spec& device);

}  // namespace assay::optimized::schedules
