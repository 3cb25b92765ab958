#pragma once

#include <vector>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/gradient.hpp"

namespace assay::optimized::schedules {

/// How a gradient is dealt out: rounds of the busiest core, of which some may hold less than a
/// whole one, and cores at work.
struct Deal {
  double rounds;
  std::int64_t cores;
};

/// Rounds of rows x columns tiles are dealt out evenly. Sequences are cut into as even extents as
/// they allow, so that a round may hold less than a whole one.
Deal deal(const Attention& attention, std::int64_t rows, std::int64_t columns, Masked masked,
          const device::Spec& device);

/// Passes before the rounds: one that clears the sums and one that adds up rows of dy * attention,
/// or both at once.
enum class Passes { apart, joined };

/// Time of a gradient with launch and passes.
Modelled gradient_of(const Attention& attention, const Deal& deal, Passes passes,
                     const device::Spec& device, const Writer& write);

/// A tile of 128 rows of one head.
device::Bytes operand_tile(const Attention& attention);

/// Buffers of scores, dP, P and dS in a vector core, each with so many numbers.
device::Scratchpad vector_buffers(std::int64_t buffers, std::int64_t numbers,
                                  const device::Spec& device);

/// The tiles of all memories.
std::vector<Buffer> listed(const std::vector<device::Scratchpad>& memories);

}  // namespace assay::optimized::schedules
