#include "assay/optimized/nsa_compress_grad/estimate.hpp"

#include <algorithm>
#include <vector>

#include "assay/device/core.hpp"
#include "model/block_cost.hpp"
#include "model/block_planner.hpp"

namespace assay::optimized::compress {
namespace {

using device::Bytes;
using device::Cycles;
using device::Pipe;
using device::VectorCost;
using Problem = spec::NsaCompressGrad::Problem;

constexpr std::int64_t block_bytes = 32, sum_lanes = 16;

/// What one item occupies, and how long it takes alone.
struct ItemCost {
  Work work;
  Cycles alone;

  ItemCost& operator+=(const ItemCost& other) {
    work += other.work;
    alone += other.alone;
    return *this;
  }
};

/// Sends the tiles of one item through a vector core. Of each buffer there are two: a tile waits
/// for the one before the last.
class ItemRun {
 public:
  ItemRun(const Problem& problem, const Tiling& tiling, const device::Spec& device,
          std::int64_t channels)
      : tiling_(tiling),
        element_(spec::size_of(problem.dtype)),
        channels_(channels),
        costs_(device.vector),
        core_(device) {}

  ItemCost run(std::int64_t part) {
    load_weights();
    PartTiles tiles(tiling_, part);
    while (const auto tile = tiles.next()) send(*tile);
    store_sums();
    for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
      cost_.work.busy[pipe] = core_.timeline().busy(static_cast<Pipe>(pipe));
    cost_.alone = end_;
    return cost_;
  }

 private:
  Cycles load(std::int64_t bytes, Cycles ready) {
    cost_.work.read += Bytes{bytes};
    return core_.load({bytes}, ready);
  }
  void store(std::int64_t bytes, Cycles ready) {
    cost_.work.written += Bytes{bytes};
    end_ = core_.store({bytes}, ready);
  }
  Cycles compute(const VectorCost& operation, std::int64_t numbers, Cycles ready) {
    return core_.compute(operation, {numbers * fp32_bytes}, ready);
  }

  /// A head's weights lie far apart: each is loaded with the block around it.
  void load_weights() {
    const std::int64_t weights = tiling_.windows.size();
    computed_ = load(weights * block_bytes, {});
    computed_ = compute(costs_.cast_to_fp32, weights, computed_);
    computed_ = compute(costs_.muls, weights * (block_bytes / fp32_bytes), computed_);
  }

  void send(const TokenRange& tile) {
    Cycles& buffers_free = free_[number_++ % free_.size()];
    const std::int64_t numbers = tile.count() * channels_;
    const WindowRange over = tiling_.windows.over(tile);
    Cycles at = std::max(buffers_free, computed_);
    if (over.empty()) {
      at = compute(costs_.muls, numbers, at);
    } else {
      const std::int64_t gradients = over.count() * channels_;
      at = load((numbers + gradients) * element_, buffers_free);
      at = compute(costs_.cast_to_fp32, numbers, std::max(at, computed_));
      at = compute(costs_.cast_to_fp32, gradients, at);
      at = add_windows(tile, over, at);
      at = compute(costs_.cast_to_16bit, numbers, at);
    }
    computed_ = at;
    store(numbers * element_, at);
    buffers_free = end_;
  }

  /// For each window products with its weights, added to the gradients of its tokens, and products
  /// with its tokens, added to the chains of its weights.
  Cycles add_windows(const TokenRange& tile, const WindowRange& over, Cycles at) {
    const Windows& windows = tiling_.windows;
    for (std::int64_t i = over.first; i < over.last; ++i) {
      const std::int64_t first = i * windows.stride();
      const std::int64_t tokens =
          std::min(tile.last, first + windows.size()) - std::max(tile.first, first);
      for (const VectorCost* operation : {&costs_.mul, &costs_.add, &costs_.mul, &costs_.add})
        at = compute(*operation, tokens * channels_, at);
    }
    return at;
  }

  void store_sums() {
    const std::int64_t weights = tiling_.windows.size();
    computed_ = compute(costs_.row_sum, weights * sum_lanes, computed_);
    store(weights * fp32_bytes, computed_);
  }

  const Tiling& tiling_;
  std::int64_t element_, channels_;
  const device::VectorCosts& costs_;
  device::VectorCore core_;
  std::array<Cycles, 2> free_ = {};
  std::size_t number_ = 0;
  Cycles computed_, end_;
  ItemCost cost_;
};

/// Items in turn to the cores; what each core gets.
class Cores {
 public:
  explicit Cores(std::int64_t count) : loads_(static_cast<std::size_t>(count)) {}

  void give(const ItemCost& item) {
    loads_[next_++ % loads_.size()] += item;
    all_ += item;
  }

  const ItemCost& all() const { return all_; }
  const ItemCost& busiest() const {
    return *std::ranges::max_element(loads_, {}, [](const ItemCost& load) { return load.alone; });
  }

 private:
  std::vector<ItemCost> loads_;
  ItemCost all_;
  std::size_t next_ = 0;
};

/// All items. Those of a part cost the same in every head; the last slice of a head may be
/// narrower.
Cores deal(const Problem& p, const Tiling& t, const device::Spec& device) {
  Cores cores(static_cast<std::int64_t>(device.cores.vector.value));
  const std::int64_t last = t.channels_of(t.slices - 1, p.head_dim);
  for (std::int64_t part = 0; part < t.parts; ++part) {
    const ItemCost last_slice = ItemRun(p, t, device, last).run(part);
    const ItemCost whole_slice =
        last == t.channels ? last_slice : ItemRun(p, t, device, t.channels).run(part);
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t slice = 0; slice < t.slices; ++slice)
        cores.give(slice + 1 < t.slices ? whole_slice : last_slice);
  }
  return cores;
}

/// The tensors, once.
Bytes tensor_bytes(const Problem& p, const Tiling& t) {
  const std::int64_t windows = t.windows.window_ends().back(), tokens = t.windows.all_tokens();
  const std::int64_t row = p.heads * p.head_dim;
  return {((2 * tokens + windows) * row + 2 * p.compress_block_size * p.heads) *
          spec::size_of(p.dtype)};
}

}  // namespace

Estimate estimate(const Problem& p, const Tiling& t, const device::Spec& device) {
  const Cores cores = deal(p, t, device);
  const Work& all = cores.all().work;
  const ItemCost& busiest = cores.busiest();
  const auto count = static_cast<std::int64_t>(device.cores.vector.value);
  const Bytes sums = {t.partials() * p.heads * p.compress_block_size * fp32_bytes};
  const Bytes weights = {p.heads * p.compress_block_size * spec::size_of(p.dtype)};
  const Cycles main = std::max({busiest.alone, l2_time(device, all.read + all.written),
                                hbm_time(device, tensor_bytes(p, t))});
  const Cycles pass = std::max({gm_to_ub(device, {device::ceil_divide(sums.count, count)}),
                                ub_to_gm(device, {device::ceil_divide(weights.count, count)}),
                                l2_time(device, sums + weights)});
  Estimate result{.busy = busiest.work.busy};
  result.makespan = cycles_of(device, device.overheads.launch.value) + main +
                    cycles_of(device, device.overheads.sync_all.value) + pass;
  result.seconds = seconds_of(device, result.makespan);
  result.read = all.read + sums;
  result.written = all.written + weights;
  result.vector_utilisation =
      all.on(Pipe::vector).count / (static_cast<double>(count) * result.makespan.count);
  return result;
}

}  // namespace assay::optimized::compress
