#include "assay/optimized/schedules/gemm.hpp"

#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "schedules/cube_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Region;
using device::TaskId;

constexpr std::int64_t accumulator_bytes = 4;

struct Tiles {
  std::int64_t m, n, of_core, active;
};

Tiles tiles_of(const Gemm& g) {
  const std::int64_t m = ceil_divide(g.m, g.base_m), n = ceil_divide(g.n, g.base_n);
  return {m, n, ceil_divide(m * n, g.cores), std::min(m * n, g.cores)};
}

class Writing {
 public:
  Writing(const Gemm& gemm, device::Instructions& code, const Tiles& tiles)
      : g_(gemm), code_(code), cube_(code, gemm.element, accumulators()), tiles_(tiles) {}

  void write(std::int64_t tiles) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      Accumulator sum = cube_.open();
      const std::int64_t chunk = g_.base_k * g_.step_k;
      for (std::int64_t at = 0; at < g_.k; at += chunk) add_chunk(sum, std::min(chunk, g_.k - at));
      cube_.drain_as(sum, {rows() * columns() * accumulator_bytes}, rows() * columns() * g_.output);
    }
  }

 private:
  std::int64_t rows() const { return std::min(g_.base_m, g_.m); }
  std::int64_t columns() const { return std::min(g_.base_n, g_.n); }

  std::size_t accumulators() const {
    const Bytes tile = {rows() * columns() * accumulator_bytes};
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(bytes_of(code_.spec().memories.l0c).count / tile.count, 1, 2));
  }

  void add_chunk(Accumulator& sum, std::int64_t k) {
    const Region left = {.rows = rows(), .row = k * g_.element, .contiguous = g_.contiguous};
    const Region along_k = {.rows = columns(), .row = k * g_.element, .contiguous = g_.contiguous};
    const Region across_k = {.rows = k, .row = columns() * g_.element, .contiguous = g_.contiguous};
    const Region& right = g_.right_rows_along_k ? along_k : across_k;
    // An operand tile is read once for each tile of the other operand with which it is multiplied.
    // Only the first read misses the L2 cache.
    const TaskId a = code_.load(left, {l1_left_.take()}, 1.0 / static_cast<double>(tiles_.n));
    const TaskId b = code_.load(right, {l1_right_.take()}, 1.0 / static_cast<double>(tiles_.m));
    const TaskId read = cube_.multiply(sum, {.m = rows(), .n = columns(), .k = k}, a, b);
    l1_left_.give(read), l1_right_.give(read);
  }

  const Gemm& g_;
  device::Instructions& code_;
  CubeUnit cube_;
  Tiles tiles_;
  device::Ring l1_left_{2}, l1_right_{2};
};

void check_capacity(const Gemm& g, const device::Spec& device) {
  device::Scratchpad l1("L1", bytes_of(device.memories.l1), bytes_of(device.memories.l1_alignment));
  for (int buffer = 0; buffer < 2; ++buffer) {
    l1.allocate(std::min(g.base_m, g.m) * std::min(g.k, g.base_k * g.step_k) * g.element, "left");
    l1.allocate(std::min(g.base_n, g.n) * std::min(g.k, g.base_k * g.step_k) * g.element, "right");
  }
}

}  // namespace

Modelled model(const Gemm& g, const device::Spec& device) {
  check_capacity(g, device);
  const Tiles tiles = tiles_of(g);
  const Rounds rounds =
      run_rounds(device, share_of(device, tiles.active), static_cast<double>(tiles.of_core), 16,
                 [&](device::Instructions& code, std::int64_t count) {
                   Writing(g, code, tiles).write(count);
                 });
  const double steps = static_cast<double>(g.m) * static_cast<double>(g.n) *
                       static_cast<double>(g.k) / peak_rate(device, g.element);
  return finished(rounds, device.overheads.launch_cube.value, share_of(device, tiles.active), steps,
                  device);
}

}  // namespace assay::optimized::schedules
