#include "model/schedule.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Cycles;
using device::Pipe;

Cycles largest(std::initializer_list<Cycles> times) { return std::max(times); }

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

Load deal(const std::vector<AlikeItems>& items, std::int64_t cores) {
  Load load;
  std::int64_t room = 0, blocks = 0, records = 0;
  const auto close_round = [&] {
    load.busiest.blocks += static_cast<double>(blocks);
    load.busiest.records += static_cast<double>(records);
    blocks = records = 0;
  };
  for (const AlikeItems& alike : items) {
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

std::int64_t count_of(const std::vector<AlikeItems>& items) {
  std::int64_t count = 0;
  for (const AlikeItems& alike : items) count += alike.count;
  return count;
}

/// The first block runs alone; behind it come the rest of the busiest core's records, after those
/// that a core waits for until dq has its turn.
Cycles main_time(const Schedule& s, const Counts& busiest, const device::Spec& device) {
  if (busiest.records == 0) return {};
  const std::int64_t active =
      std::min(static_cast<std::int64_t>(device.cores.cube.value), count_of(s.items));
  const std::int64_t waiting = ceil_divide(active, s.heads) - 1;
  const Work record = (1 / busiest.records) * busiest.times(s.cost);
  const Work& block = s.cost.block;
  const Cycles first =
      std::max(s.cost.alone, l2_time(device, active * (block.read + block.written)));
  const double rest = busiest.records * (1 - 1 / busiest.blocks) + static_cast<double>(waiting);
  return first + rest * record_time(device, record, active);
}

/// Bytes that HBM must move: the tensors once, and the share of the sums that L2 does not hold.
Bytes hbm_bytes(const Schedule& s, const device::Spec& device) {
  const Bytes tensors_once = s.inputs + s.outputs;
  const Bytes live = tensors_once + s.sums;
  const double missing =
      std::max(0.0, 1 - device.memories.l2.value / static_cast<double>(live.count));
  const auto traffic = static_cast<double>(2 * s.sums.count);
  return tensors_once + Bytes{static_cast<std::int64_t>(missing * traffic)};
}

}  // namespace

Estimate estimate_of(const Schedule& s, const device::Spec& device) {
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const Load load = deal(s.items, cores);
  const Work all = load.all.times(s.cost), busiest = load.busiest.times(s.cost);
  const Cycles main =
      std::max(main_time(s, load.busiest, device), hbm_time(device, hbm_bytes(s, device)));
  Estimate result{.busy = busiest.busy};
  result.makespan = cycles_of(device, device.overheads.launch.value) + main;
  result.read = all.read, result.written = all.written;
  for (const Pass& pass : s.passes) {
    result.makespan += pass_time(device, pass);
    result.read += pass.read, result.written += pass.written;
  }
  result.seconds = seconds_of(device, result.makespan);
  result.cube_utilisation =
      all.on(Pipe::cube).count / (static_cast<double>(cores) * result.makespan.count);
  return result;
}

std::vector<spec::Metric> metrics_of(const BlockPlan& plan, const Estimate& estimate) {
  const auto busy = [&](device::Pipe pipe) {
    return estimate.busy[static_cast<std::size_t>(pipe)].count;
  };
  const auto bytes = [](device::Bytes size) { return static_cast<double>(size.count); };
  using device::Pipe;
  return {{"cube_busy", busy(Pipe::cube), "cycle"},
          {"vector_busy", busy(Pipe::vector), "cycle"},
          {"cube_mte2_busy", busy(Pipe::cube_mte2), "cycle"},
          {"vector_mte2_busy", busy(Pipe::vector_mte2), "cycle"},
          {"mte1_busy", busy(Pipe::mte1), "cycle"},
          {"fixpipe_busy", busy(Pipe::fixpipe), "cycle"},
          {"mte3_busy", busy(Pipe::mte3), "cycle"},
          {"makespan", estimate.makespan.count, "cycle"},
          {"makespan_time", estimate.seconds * 1e6, "us"},
          {"gm_read", bytes(estimate.read), "B"},
          {"gm_written", bytes(estimate.written), "B"},
          {"l1_peak", bytes(plan.l1), "B"},
          {"l0a_peak", bytes(plan.l0a), "B"},
          {"l0b_peak", bytes(plan.l0b), "B"},
          {"l0c_peak", bytes(plan.l0c), "B"},
          {"ub_peak", bytes(plan.ub), "B"},
          {"cube_utilisation", 100 * estimate.cube_utilisation, "%"}};
}

std::string to_text(const Estimate& e, const device::Spec& device, std::string_view utilised) {
  constexpr const char* names[device::pipe_count] = {"cube MTE2",   "MTE1",   "cube", "FixPipe",
                                                     "vector MTE2", "vector", "MTE3"};
  const double l2 = l2_time(device, e.read + e.written).count / e.makespan.count;
  std::pair<const char*, double> bound = {"L2", l2};
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "as tiled, to first order: " << 1e6 * e.seconds
       << " us, " << utilised << " busy " << 100 * e.cube_utilisation << " %, " << e.read.count
       << " B read, " << e.written.count << " B written\n  busy:";
  for (std::size_t pipe = 0; pipe < e.busy.size(); ++pipe) {
    const double share = e.busy[pipe].count / e.makespan.count;
    if (share > bound.second) bound = {names[pipe], share};
    text << ' ' << names[pipe] << ' ' << 100 * share << " %,";
  }
  text << " L2 " << 100 * l2 << " %; held up most by " << bound.first << '\n';
  return text.str();
}

}  // namespace assay::optimized
