#pragma once

#include <vector>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/gradient.hpp"
#include "schedules/report.hpp"

namespace assay::optimized::schedules {

/// The distribution of a gradient over cores: the number of iterations of the busiest core (a
/// partial iteration counts as a fraction), and the number of active cores.
struct Deal {
  double rounds;
  std::int64_t cores;
  std::int64_t rest = 0;  ///< columns of one more iteration that several cores share
};

/// Distributes iterations of rows x columns tiles evenly over the cores. Sequences are split as
/// evenly as possible, so an iteration may be partial.
Deal deal(const Attention& attention, std::int64_t rows, std::int64_t columns, Masked masked,
          const device::Spec& device);

/// The passes over global memory before the iterations. apart: one pass clears the sums, another
/// computes the row sums of dy * attention. joined: one pass does both.
enum class Passes { apart, joined };

/// Distributes iterations over the cores. First gives each core the same number of full iterations.
/// The remaining iterations are split by columns if at least two cores are available for each of
/// them.
Deal deal_with_rest(const Attention& attention, std::int64_t rows, std::int64_t columns,
                    const device::Spec& device);

/// Returns the modelled time of a gradient, including launch and passes over global memory.
Modelled gradient_of(const Attention& attention, const Deal& deal, Passes passes,
                     const device::Spec& device, const Writer& write);

/// Returns the work of all blocks with an unmasked pair, in the direction of the problem.
Workload work_of(const Attention& attention, const device::Spec& device);

/// Bytes of softmax_max and softmax_sum per row of queries: eight equal fp32 numbers each.
inline constexpr device::Bytes statistics_of_row = {2 * 8 * 4};

/// Returns the bytes of an operand tile: 128 rows of one head.
device::Bytes operand_tile(const Attention& attention);

/// The kind of an operand tile. key: rows of query or key, including rope; value: rows of dy or
/// value.
enum class Tile { key, value };

/// Loads an operand tile into L1; returns the last load instruction.
device::TaskId load_tile(device::Instructions& code, const Attention& attention, Tile tile,
                         device::TaskId after);

/// Loads 64 of the 128 rows of an operand tile; returns the last load instruction.
device::TaskId load_half_tile(device::Instructions& code, const Attention& attention, Tile tile,
                              device::TaskId after);

/// Returns the buffers of a vector core for scores, dP, P and dS. Each buffer has `numbers`
/// numbers.
device::Scratchpad vector_buffers(const Attention& attention, std::int64_t buffers,
                                  std::int64_t numbers, const device::Spec& device);

/// Returns the allocated parts of all memories in one list.
std::vector<Buffer> listed(const std::vector<device::Scratchpad>& memories);

}  // namespace assay::optimized::schedules
