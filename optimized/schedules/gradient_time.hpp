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
  std::int64_t rest = 0;  ///< columns of one more round, a part of one that several cores share
};

/// Rounds of rows x columns tiles are dealt out evenly. Sequences are cut into as even extents as
/// they allow, so that a round may hold less than a whole one.
Deal deal(const Attention& attention, std::int64_t rows, std::int64_t columns, Masked masked,
          const device::Spec& device);

/// Passes before the rounds: one that clears the sums and one that adds up rows of dy * attention,
/// or both at once.
enum class Passes { apart, joined };

/// The same, but of rounds that are left when every core has as many, each is cut by columns into
/// parts for as many cores as there are for it.
Deal deal_with_rest(const Attention& attention, std::int64_t rows, std::int64_t columns,
                    const device::Spec& device);

/// Time of a gradient with launch and passes.
Modelled gradient_of(const Attention& attention, const Deal& deal, Passes passes,
                     const device::Spec& device, const Writer& write);

/// Multiply-adds of all blocks that hold a pair, and bytes of all inputs and outputs.
double multiply_adds(const Attention& attention);
device::Bytes compulsory_bytes(const Attention& attention);

/// Room for a tile of 128 rows of one head.
device::Bytes operand_tile(const Attention& attention);

/// A tile of query or key, with its rope, or of dy or value.
enum class Tile { key, value };

/// Brings one into L1; returns the last of its loads.
device::TaskId load_tile(device::Instructions& code, const Attention& attention, Tile tile,
                         device::TaskId after);

/// The same for 64 of its rows.
device::TaskId load_half_tile(device::Instructions& code, const Attention& attention, Tile tile,
                              device::TaskId after);

/// Buffers of scores, dP, P and dS in a vector core, each with so many numbers.
device::Scratchpad vector_buffers(const Attention& attention, std::int64_t buffers,
                                  std::int64_t numbers, const device::Spec& device);

/// The tiles of all memories.
std::vector<Buffer> listed(const std::vector<device::Scratchpad>& memories);

}  // namespace assay::optimized::schedules
