#include "assay/optimized/flash_attention_score_grad/estimate.hpp"

#include <algorithm>
#include <vector>

#include "flash_attention_score_grad/block_cost.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Cycles;
using device::Pipe;
using Problem = spec::FlashAttentionScoreGrad::Problem;

constexpr std::int64_t fp32_bytes = 4;

Cycles largest(std::initializer_list<Cycles> times) { return std::max(times); }

/// Row tiles and records under every key tile, for one query head.
struct KeyTileLengths {
  std::vector<std::int64_t> blocks, records;
};

KeyTileLengths lengths(const Tiling& t) {
  const auto size = static_cast<std::size_t>(t.key_tiles) + 1;
  KeyTileLengths steps = {std::vector<std::int64_t>(size, 0), std::vector<std::int64_t>(size, 0)};
  const auto count = [](std::vector<std::int64_t>& at, const TileRange& keys) {
    if (keys.empty()) return;
    ++at[static_cast<std::size_t>(keys.first)];
    --at[static_cast<std::size_t>(keys.last)];
  };
  for (std::int64_t first = 0; first < t.row_tiles; first += t.record_tiles) {
    TileRange record;
    for (std::int64_t r = first; r < std::min(first + t.record_tiles, t.row_tiles); ++r) {
      const TileRange keys = t.keys_of(r);
      count(steps.blocks, keys);
      if (keys.empty()) continue;
      record.first = record.empty() ? keys.first : std::min(record.first, keys.first);
      record.last = std::max(record.last, keys.last);
    }
    count(steps.records, record);
  }
  for (auto* at : {&steps.blocks, &steps.records})
    for (std::size_t j = 1; j < size; ++j) (*at)[j] += (*at)[j - 1];
  return steps;
}

/// How much there is of each kind of work.
struct Counts {
  double blocks = 0, records = 0, key_tiles = 0;

  Work times(const BlockCost& cost) const {
    Work work = blocks * cost.block;
    work += records * cost.record;
    work += key_tiles * cost.key_tile;
    return work;
  }
};

/// Of the busiest core, and of all of them.
struct Load {
  Counts busiest, all;
};

/// Key tiles are dealt out in rounds, the same key tile of all heads before the next: those of one
/// round are alike.
Load deal(const Problem& p, const Tiling& t, std::int64_t cores) {
  const KeyTileLengths length = lengths(t);
  const std::int64_t heads = p.batch * p.heads_kv;
  const std::int64_t items = heads * t.key_tiles;
  Load load;
  for (std::int64_t first = 0; first < items; first += cores) {
    const std::int64_t last = std::min(first + cores, items) - 1;
    std::int64_t blocks = 0, records = 0;
    for (std::int64_t j = first / heads; j <= last / heads; ++j) {
      blocks = std::max(blocks, length.blocks[static_cast<std::size_t>(j)]);
      records = std::max(records, length.records[static_cast<std::size_t>(j)]);
    }
    load.busiest.blocks += static_cast<double>(p.group() * blocks);
    load.busiest.records += static_cast<double>(p.group() * records);
    load.busiest.key_tiles += 1;
  }
  for (std::int64_t j = 0; j < t.key_tiles; ++j) {
    const auto at = static_cast<std::size_t>(j);
    load.all.blocks += static_cast<double>(p.batch * p.heads_q * length.blocks[at]);
    load.all.records += static_cast<double>(p.batch * p.heads_q * length.records[at]);
  }
  load.all.key_tiles = static_cast<double>(items);
  return load;
}

struct TensorBytes {
  Bytes inputs, outputs, sums, dy_and_attention, row_terms;
};

TensorBytes tensor_bytes(const Problem& p) {
  const std::int64_t element = spec::size_of(p.dtype);
  const std::int64_t q = p.batch * p.heads_q * p.seq_q, kv = p.batch * p.heads_kv * p.seq_kv;
  const std::int64_t gradients = q * p.head_dim + kv * (p.head_dim + p.head_dim_v);
  const std::int64_t statistics = q * spec::statistics_replicas * fp32_bytes;
  return {.inputs = {(gradients + 2 * q * p.head_dim_v) * element + 2 * statistics},
          .outputs = {gradients * element},
          .sums = {gradients * fp32_bytes},
          .dy_and_attention = {2 * q * p.head_dim_v * element},
          .row_terms = {statistics}};
}

/// A pass of all vector cores over global memory, and the barrier behind it.
struct Pass {
  Bytes read, written;
};

Cycles pass_time(const device::Spec& device, const Pass& pass) {
  const auto cores = static_cast<std::int64_t>(device.cores.vector.value);
  const Bytes in = {ceil_divide(pass.read.count, cores)},
              out = {ceil_divide(pass.written.count, cores)};
  return largest({gm_to_ub(device, in), ub_to_gm(device, out),
                  l2_time(device, pass.read + pass.written)}) +
         cycles_of(device, device.overheads.sync_all.value);
}

/// One record in the steady state: cube and vector cores side by side, all cores sharing L2.
Cycles record_time(const device::Spec& device, const Work& record, std::int64_t active) {
  const Cycles cube = largest({record.on(Pipe::cube_mte2), record.on(Pipe::mte1),
                               record.on(Pipe::cube), record.on(Pipe::fixpipe)});
  const Cycles vector =
      largest({record.on(Pipe::vector_mte2), record.on(Pipe::vector), record.on(Pipe::mte3)}) +
      Cycles{device.overheads.handover.value};
  return largest({cube, vector, l2_time(device, active * (record.read + record.written))});
}

/// The first block runs alone; behind it come the rest of the busiest core's records, after those
/// that a core waits for until dq has its turn.
Cycles main_time(const Problem& p, const Tiling& t, const device::Spec& device,
                 const BlockCost& cost, const Counts& busiest) {
  if (busiest.records == 0) return {};
  const std::int64_t heads = p.batch * p.heads_kv;
  const std::int64_t active =
      std::min(static_cast<std::int64_t>(device.cores.cube.value), heads * t.key_tiles);
  const std::int64_t waiting = ceil_divide(active, heads) - 1;
  const Work record = (1 / busiest.records) * busiest.times(cost);
  const Work& block = cost.block;
  const Cycles first = std::max(cost.alone, l2_time(device, active * (block.read + block.written)));
  const double rest = busiest.records * (1 - 1 / busiest.blocks) + static_cast<double>(waiting);
  return first + rest * record_time(device, record, active);
}

/// Bytes that HBM must move: the tensors once, and the share of the sums that L2 does not hold.
Bytes hbm_bytes(const device::Spec& device, const TensorBytes& tensors, Bytes sums_traffic) {
  const Bytes live = tensors.inputs + tensors.outputs + tensors.sums;
  const Bytes tensors_once = tensors.inputs + tensors.outputs;
  const double missing =
      std::max(0.0, 1 - device.memories.l2.value / static_cast<double>(live.count));
  return tensors_once +
         Bytes{static_cast<std::int64_t>(missing * static_cast<double>(sums_traffic.count))};
}

}  // namespace

Estimate estimate(const Problem& p, const Tiling& t, const device::Spec& device) {
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const BlockCost cost = block_cost(p, t, device);
  const Load load = deal(p, t, cores);
  const TensorBytes tensors = tensor_bytes(p);
  const Pass clear = {.read = {}, .written = tensors.sums};
  const Pass row_terms = {.read = tensors.dy_and_attention, .written = tensors.row_terms};
  const Pass store = {.read = tensors.sums, .written = tensors.outputs};

  const Work all = load.all.times(cost), busiest = load.busiest.times(cost);

  const Bytes hbm = hbm_bytes(device, tensors, 2 * tensors.sums);
  const Cycles main = std::max(main_time(p, t, device, cost, load.busiest), hbm_time(device, hbm));
  Estimate result{.busy = busiest.busy};
  result.makespan = cycles_of(device, device.overheads.launch.value) + pass_time(device, clear) +
                    pass_time(device, row_terms) + main + pass_time(device, store);
  result.seconds = seconds_of(device, result.makespan);
  result.read = all.read + clear.read + row_terms.read + store.read;
  result.written = all.written + clear.written + row_terms.written + store.written;
  result.cube_utilisation =
      all.on(Pipe::cube).count / (static_cast<double>(cores) * result.makespan.count);
  return result;
}

}  // namespace assay::optimized
