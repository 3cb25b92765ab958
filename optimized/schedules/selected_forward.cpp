#include <algorithm>

#include "schedules/forward_tiles.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/selected_work.hpp"

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;
using device::round_up;

constexpr std::int64_t fractal = 16;

/// The rows of a tile are the query heads of one token and one key head. Its columns are the keys
/// of some listed blocks, which are loaded block by block.
ForwardTiles tiles_of(const Selection& s, const ByList& by) {
  const auto keys = [&](std::int64_t dim) -> std::vector<device::Region> {
    return {{s.block, dim * s.element, s.heads_kv == 1}};
  };
  const device::Bytes results = s.group * (s.head_dim_v * s.element + statistics_of_row);
  return {.rows = round_up(s.group, fractal),
          .columns = by.blocks * s.block,
          .keys = s.block,
          .ahead = by.ahead,
          .buffers = by.buffers,
          .vector_tile = by.vector_tile,
          .filled_rows = s.group,
          .channels = s.head_dim,
          .channels_v = s.head_dim_v,
          .query = {{1, s.group * s.head_dim * s.element, true}},
          .key = keys(s.head_dim),
          .value = keys(s.head_dim_v),
          .results = {ceil_divide(results.count * by.blocks, s.count)},
          .element = s.element};
}

}  // namespace

std::string ByList::to_text() const {
  return "token by token, " + std::to_string(blocks) +
         (blocks == 1 ? " listed block" : " listed blocks") + " at a time, scores " +
         std::to_string(ahead) + (ahead == 1 ? " tile" : " tiles") +
         " ahead; L1: " + std::to_string(buffers) + " buffers per operand; UB: 2 x " +
         std::to_string(vector_tile) + " numbers";
}

std::vector<Buffer> buffers_of(const Selection& s, const ByList& by, const device::Spec& device) {
  return buffers_of(tiles_of(s, by), device);
}

device::Program program_of(const Selection& s, const ByList& by, const device::Spec& device,
                           std::int64_t count) {
  return program_of(tiles_of(s, by), device, count);
}

Modelled model(const Selection& selection, const ByList& by, const device::Spec& device) {
  Selection s = selection;
  s.direction = Direction::forward;
  const std::int64_t items = s.queries * s.heads_kv;
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const std::int64_t tiles = ceil_divide(items, cores) * ceil_divide(s.count, by.blocks);
  return model(tiles_of(s, by), static_cast<double>(tiles), std::min(items, cores),
               work_of(s, device), device);
}

}  // namespace assay::optimized::schedules
