#include "model/block_planner.hpp"

#include <algorithm>
#include <sstream>

#include "assay/device/scratchpad.hpp"
#include "assay/spec/attention.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::round_up;

constexpr std::int64_t largest_edge =
    // Edge length of a block: at this size, one matrix instruction (Mmad) of 128 x 128 x 128 takes
    // longer than loading its operands
    128;
// Number of row tiles in a record. A record is a group of row tiles; their dk and dv are summed in
// L0C (accumulators). The vendor's template "basic" has the same number.
constexpr std::int64_t record_tiles = 4;

/// Splits a buffer into `parts` equal parts, and stores the rows of a tile in one part. Returns the
/// largest depth (number of columns) that fits if the rows need `row_bytes` bytes per column. The
/// depth is a multiple of the fractal edge (16) and at most `most`.
std::int64_t depth(const device::Quantity& buffer, std::int64_t parts, std::int64_t row_bytes,
                   std::int64_t most) {
  const std::int64_t fitting = bytes_of(buffer).count / parts / row_bytes / fractal * fractal;
  return std::clamp(fitting, fractal, most);
}

class Planner {
 public:
  Planner(const BlockNeeds& needs, const device::Spec& device, BlockPlan& plan)
      : needs_(needs), device_(device), plan_(plan) {}

  void choose_depths() {
    const std::int64_t edge = std::max(block_edge(device_), needs_.rows);
    const std::int64_t channels =
        round_up(std::max({needs_.head_dim, needs_.head_dim_v, needs_.head_dim_rope}), fractal);
    const std::int64_t inner = std::max({channels, plan_.rows, plan_.columns});
    const std::int64_t row_bytes = edge * needs_.element;
    plan_.l1_depth = depth(device_.memories.l1, 4, row_bytes, inner);
    plan_.l0_depth = std::min({depth(device_.memories.l0a, 2, row_bytes, inner),
                               depth(device_.memories.l0b, 2, row_bytes, inner), plan_.l1_depth});
    plan_.slice = std::min(edge, std::max(channels, plan_.columns));
  }

  void place_matrices() {
    auto [l1, l0a, l0b, l0c] = device::CubeBuffers(device_);
    const std::int64_t edge = std::max(plan_.rows, plan_.columns);
    for (const char* half : {"ping", "pong"}) {
      l1.allocate({edge * plan_.l1_depth * needs_.element}, std::string("left operand ") + half);
      l1.allocate({edge * plan_.l1_depth * needs_.element}, std::string("right operand ") + half);
      l0a.allocate({edge * plan_.l0_depth * needs_.element}, std::string("left fractals ") + half);
      l0b.allocate({edge * plan_.l0_depth * needs_.element}, std::string("right fractals ") + half);
      l0c.allocate({edge * plan_.slice * fp32_bytes}, std::string("accumulators ") + half);
    }
    const Bytes key = operand(needs_.head_dim), value = operand(needs_.head_dim_v),
                rope = operand(needs_.head_dim_rope);
    plan_.keys_stay = l1.used() + key + value + rope <= l1.capacity();
    if (plan_.keys_stay) {
      l1.allocate(key, "key");
      l1.allocate(value, "value");
      if (needs_.head_dim_rope > 0) l1.allocate(rope, "key rope");
    }
    plan_.l1 = record(l1), plan_.l0a = record(l0a);
    plan_.l0b = record(l0b), plan_.l0c = record(l0c);
  }

  void place_vectors() {
    auto [ub] = device::VectorBuffers(device_);
    // Finds the largest number of rows that fits into the unified buffer. If even the smallest
    // number does not fit, the error message names the tile.
    for (std::int64_t rows = plan_.rows / 2; rows > fractal / 2; rows /= 2)
      if (vector_bytes(rows) <= ub.capacity().count) {
        plan_.vector_rows = rows;
        break;
      }
    for (const auto& [what, size] : vector_tiles(plan_.vector_rows)) ub.allocate(size, what);
    plan_.ub = record(ub);
  }

 private:
  std::vector<Piece> vector_tiles(std::int64_t rows) const {
    const std::int64_t elements = rows * plan_.columns;
    std::vector<Piece> tiles;
    for (const char* half : {" ping", " pong"}) {
      const auto tile = [&](const std::string& what, std::int64_t size) {
        tiles.push_back({what + half, {size}});
      };
      tile("scores", elements * fp32_bytes);
      tile("dprob", elements * fp32_bytes);
      if (needs_.element != fp32_bytes) {
        tile("cast prob", elements * needs_.element);
        tile("cast dscore", elements * needs_.element);
      }
      for (const auto& [what, size] : needs_.features(elements)) tile(what, size.count);
      tile("statistics", 3 * rows * spec::statistics_replicas * fp32_bytes);
    }
    return tiles;
  }

  std::int64_t vector_bytes(std::int64_t rows) const {
    std::int64_t total = 0;
    for (const auto& tile : vector_tiles(rows))
      total += round_up(tile.size.count, bytes_of(device_.memories.ub_alignment).count);
    return total;
  }

  Bytes record(const device::Scratchpad& pad) {
    for (const auto& tile : pad.tiles())
      plan_.buffers.push_back({pad.name(), tile.what, tile.offset, tile.size});
    return pad.used();
  }

  Bytes operand(std::int64_t dim) const {
    return {plan_.columns * round_up(dim, fractal) * needs_.element};
  }

  const BlockNeeds& needs_;
  const device::Spec& device_;
  BlockPlan& plan_;
};

}  // namespace

std::int64_t block_edge(const device::Spec& device) {
  std::int64_t edge = largest_edge;
  while (edge > fractal && 2 * edge * edge * fp32_bytes > bytes_of(device.memories.l0c).count)
    edge -= fractal;
  return edge;
}

BlockPlan plan_block(const BlockNeeds& needs, const device::Spec& device) {
  BlockPlan plan{.rows = needs.rows,
                 .columns = needs.columns,
                 .record_tiles = record_tiles,
                 .vector_rows = fractal / 2,
                 .buffers = {}};
  Planner planner(needs, device, plan);
  planner.choose_depths();
  planner.place_matrices();
  planner.place_vectors();
  return plan;
}

std::string to_text(const BlockPlan& plan) {
  std::ostringstream text;
  text << "record " << plan.record_tiles << " row tiles, L1 depth " << plan.l1_depth
       << ", L0 depth " << plan.l0_depth << ", slice " << plan.slice << ", vector rows "
       << plan.vector_rows
       << (plan.keys_stay ? ", keys stay in L1\n" : ", keys are loaded for every matrix product\n");
  for (const auto& buffer : plan.buffers)
    text << buffer.memory << ' ' << buffer.what << ": " << buffer.size.count << " B at "
         << buffer.offset.count << '\n';
  text << "peak: L1 " << plan.l1.count << " B, L0A " << plan.l0a.count << " B, L0B "
       << plan.l0b.count << " B, L0C " << plan.l0c.count << " B, UB " << plan.ub.count << " B\n";
  return text.str();
}

}  // namespace assay::optimized
