#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/optimized/schedules/attention.hpp"
#include "schedules/forward_tiles.hpp"
#include "schedules/gradient_time.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Region;

constexpr std::int64_t edge = 128;

/// The tiles of all cores. row_blocks: over all heads and sequences. busiest: tiles of the busiest
/// core.
struct Dealt {
  std::int64_t row_blocks = 0;
  double all = 0, busiest = 0;
};

/// Distributes the row blocks over the cores. Under a mask, cores get equal numbers of unmasked
/// scores.
Dealt dealt_of(const Attention& a, const Forward& s, std::int64_t cores) {
  Dealt dealt;
  std::int64_t longest = 0, tiles = 0;
  const std::vector<Sequences> sequences = a.sequences();
  for (const Sequences& of : sequences) {
    const std::int64_t blocks = a.heads * of.count * ceil_divide(of.seq_q, s.group * s.rows);
    const std::int64_t of_block = ceil_divide(of.seq_kv, s.columns);
    dealt.row_blocks += blocks, tiles += blocks * of_block;
    longest = std::max(longest, of_block);
  }
  if (a.masked()) tiles = ceil_divide(a.blocks() * edge * edge, s.group * s.rows * s.columns);
  dealt.all = static_cast<double>(tiles);
  std::int64_t busiest = std::max(ceil_divide(tiles, cores), a.masked() ? 1 : longest);
  if (!a.masked() && sequences.size() == 1)
    busiest = ceil_divide(dealt.row_blocks, cores) * longest;
  dealt.busiest = static_cast<double>(busiest);
  return dealt;
}

ForwardTiles tiles_of(const Attention& a, const Forward& s, const Dealt& dealt) {
  const auto regions = [&](std::int64_t rows, std::int64_t channels, std::int64_t more) {
    std::vector<Region> all = {{rows, channels * a.element, a.contiguous}};
    if (more > 0) all.push_back({rows, more * a.element, a.contiguous});
    return all;
  };
  const std::int64_t rows = std::min(s.rows, a.seq_q);
  const Bytes results = s.group * rows * (a.channels_v() * a.element + statistics_of_row);
  const double of_tile = static_cast<double>(results.count * dealt.row_blocks) / dealt.all;
  return {.rows = s.rows,
          .columns = s.columns,
          .keys = s.keys,
          .ahead = s.ahead,
          .buffers = s.buffers,
          .vector_tile = s.vector_tile,
          .filled_rows = rows,
          .channels = a.channels(),
          .channels_v = a.channels_v(),
          .query = regions(rows, a.head_dim, a.head_dim_rope),
          .key = regions(s.keys, a.head_dim, a.head_dim_rope),
          .value = regions(s.keys, a.channels_v(), 0),
          .results = {std::llround(of_tile)},
          .element = a.element,
          .features = a.features,
          .group = s.group};
}

std::int64_t cores_of(const device::Spec& device) {
  return static_cast<std::int64_t>(device.cores.cube.value);
}

ForwardTiles tiles_of(const Attention& a, const Forward& s, const device::Spec& device) {
  return tiles_of(a, s, dealt_of(a, s, cores_of(device)));
}

}  // namespace

std::string Forward::to_text() const {
  return "row blocks of " + std::to_string(group) + " x " + std::to_string(rows) + " rows, " +
         std::to_string(columns) + " columns at a time, " + std::to_string(keys) +
         " keys in a product, scores " + std::to_string(ahead) + (ahead == 1 ? " tile" : " tiles") +
         " ahead; L1: " + std::to_string(buffers) + " buffers per operand; UB: 2 x " +
         std::to_string(vector_tile) + " numbers";
}

std::vector<Buffer> buffers_of(const Attention& a, const Forward& s, const device::Spec& device) {
  return buffers_of(tiles_of(a, s, device), device);
}

device::Program program_of(const Attention& a, const Forward& s, const device::Spec& device,
                           std::int64_t tiles) {
  return program_of(tiles_of(a, s, device), device, tiles);
}

Modelled model(const Attention& attention, const Forward& s, const device::Spec& device) {
  Attention a = attention;
  a.direction = Direction::forward;
  const Dealt dealt = dealt_of(a, s, cores_of(device));
  return model(tiles_of(a, s, dealt), dealt.busiest, std::min(cores_of(device), dealt.row_blocks),
               work_of(a, device), device);
}

}  // namespace assay::optimized::schedules
