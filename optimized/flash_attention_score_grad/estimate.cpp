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

/// Row tiles and records under every key tile, for one query head of one sequence.
struct KeyTileLengths {
  std::vector<std::int64_t> blocks, records;
};

KeyTileLengths lengths(const SequenceTiles& t, std::int64_t record_tiles) {
  const auto size = static_cast<std::size_t>(t.key_tiles) + 1;
  KeyTileLengths steps = {std::vector<std::int64_t>(size, 0), std::vector<std::int64_t>(size, 0)};
  const auto count = [](std::vector<std::int64_t>& at, const TileRange& keys) {
    if (keys.empty()) return;
    ++at[static_cast<std::size_t>(keys.first)];
    --at[static_cast<std::size_t>(keys.last)];
  };
  for (std::int64_t first = 0; first < t.row_tiles; first += record_tiles) {
    TileRange record;
    for (std::int64_t r = first; r < std::min(first + record_tiles, t.row_tiles); ++r) {
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

/// Key tiles of equal work: as many as there are key heads and sequences alike.
struct AlikeItems {
  std::int64_t count, blocks, records;
};

/// In the order in which they are dealt out: the same key tile of all heads before the next.
std::vector<AlikeItems> items(const Problem& p, const Tiling& t) {
  std::vector<KeyTileLengths> of_sequences;
  std::int64_t most = 0;
  for (const SequenceTiles& s : t.sequences) {
    of_sequences.push_back(lengths(s, t.record_tiles));
    most = std::max(most, s.key_tiles);
  }
  std::vector<AlikeItems> all;
  for (std::int64_t j = 0; j < most; ++j)
    for (std::size_t s = 0; s < t.sequences.size(); ++s) {
      if (j >= t.sequences[s].key_tiles) continue;
      const auto at = static_cast<std::size_t>(j);
      all.push_back({.count = t.repeats() * p.heads_kv,
                     .blocks = p.group() * of_sequences[s].blocks[at],
                     .records = p.group() * of_sequences[s].records[at]});
    }
  return all;
}

/// Key tiles are dealt out in rounds, each as long as its longest item.
Load deal(const Problem& p, const Tiling& t, std::int64_t cores) {
  Load load;
  std::int64_t room = 0, blocks = 0, records = 0;
  const auto close_round = [&] {
    load.busiest.blocks += static_cast<double>(blocks);
    load.busiest.records += static_cast<double>(records);
    blocks = records = 0;
  };
  for (const AlikeItems& alike : items(p, t)) {
    for (std::int64_t left = alike.count; left > 0;) {
      if (room == 0) {
        close_round();
        load.busiest.key_tiles += 1;
        room = cores;
      }
      const std::int64_t taken = std::min(left, room);
      blocks = std::max(blocks, alike.blocks), records = std::max(records, alike.records);
      left -= taken, room -= taken;
    }
    load.all.blocks += static_cast<double>(alike.count * alike.blocks);
    load.all.records += static_cast<double>(alike.count * alike.records);
    load.all.key_tiles += static_cast<double>(alike.count);
  }
  close_round();
  return load;
}

struct TensorBytes {
  Bytes inputs, outputs, sums, dy_and_attention, row_terms;
};

/// Mask, position bias and dropout bits.
std::int64_t optional_bytes(const Problem& p) {
  std::int64_t bytes = 0;
  if (p.atten_mask != spec::MaskShape::absent) bytes += spec::element_count(mask_shape(p));
  if (p.pse_shift != spec::PseShape::absent)
    bytes += spec::element_count(pse_shape(p)) * spec::size_of(pse_dtype(p));
  if (p.has_dropout()) bytes += ceil_divide(score_count(p), 8);
  return bytes;
}

TensorBytes tensor_bytes(const Problem& p) {
  const std::int64_t element = spec::size_of(p.dtype);
  const std::int64_t q = query_extents(p).rows(), kv = key_extents(p).rows();
  const std::int64_t channels = p.head_dim + p.head_dim_rope;
  const std::int64_t gradients = q * channels + kv * (channels + p.head_dim_v);
  const std::int64_t statistics = q * spec::statistics_replicas * fp32_bytes;
  return {.inputs = {(gradients + 2 * q * p.head_dim_v) * element + 2 * statistics +
                     optional_bytes(p)},
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
      std::min(static_cast<std::int64_t>(device.cores.cube.value), p.heads_kv * t.key_tiles());
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
