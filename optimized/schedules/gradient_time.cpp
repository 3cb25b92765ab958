#include "schedules/gradient_time.hpp"

#include <algorithm>

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;

constexpr std::int64_t edge = 128, fp32_bytes = 4;

struct TensorBytes {
  Bytes inputs, outputs, sums = {}, row_inputs = {}, last_pass = {};
};

TensorBytes tensors_of(const Attention& a) {
  std::int64_t queries = 0, keys = 0;
  for (const Sequences& s : a.sequences()) {
    queries += a.heads * s.count * s.seq_q;
    keys += a.heads_kv * s.count * s.seq_kv;
  }
  const std::int64_t gradients = (queries + keys) * a.channels() + keys * a.channels_v();
  if (a.direction == Direction::forward)
    return {.inputs = gradients * a.element + a.features.tensors,
            .outputs = queries * (a.channels_v() * a.element + statistics_of_row)};
  const std::int64_t rows = 2 * queries * a.channels_v();
  return {.inputs = (gradients + rows) * a.element + a.features.tensors,
          .outputs = gradients * a.element,
          .sums = {gradients * fp32_bytes},
          .row_inputs = rows * a.element,
          .last_pass = a.features.last_pass};
}

Bytes beyond_l2(Bytes size, const device::Spec& device) {
  return {std::max<std::int64_t>(0, size.count - bytes_of(device.memories.l2).count)};
}

/// Returns the seconds of the passes over global memory: clear the sums, compute the row sums of dy
/// * attention, and scale and store the sums. With a sink, the last pass also reads the softmax
/// statistics.
double pass_time(const TensorBytes& t, Passes passes, const device::Spec& device) {
  const Bytes missing = beyond_l2(t.sums, device);
  const double before = passes == Passes::joined
                            ? pass_seconds(device, t.row_inputs, t.sums, t.row_inputs + missing)
                            : pass_seconds(device, {}, t.sums, missing) +
                                  pass_seconds(device, t.row_inputs, {}, t.row_inputs);
  return before +
         pass_seconds(device, t.sums + t.last_pass, t.outputs, missing + t.outputs + t.last_pass);
}

struct Part {
  Tile tile;
  std::int64_t rows;
};

device::TaskId load_rows(device::Instructions& code, const Attention& a, const Part& part,
                         device::TaskId after) {
  const auto rows = [&](std::int64_t channels) {
    return code.load({.rows = part.rows, .row = channels * a.element, .contiguous = a.contiguous},
                     {after});
  };
  if (part.tile == Tile::value) return rows(a.channels_v());
  const device::TaskId loaded = rows(a.head_dim);
  return a.head_dim_rope == 0 ? loaded : rows(a.head_dim_rope);
}

}  // namespace

Deal deal(const Attention& a, std::int64_t rows, std::int64_t columns, Masked masked,
          const device::Spec& device) {
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const bool in_stream = a.masked() && masked == Masked::stream;
  const std::int64_t all =
      in_stream ? ceil_divide(a.blocks(), rows * columns) : a.kept(rows, columns);
  const std::int64_t whole = all * rows * columns;
  const std::int64_t tiles = a.masked() && masked == Masked::whole ? whole : a.blocks();
  const auto busiest = static_cast<double>(ceil_divide(all, cores));
  return {.rounds = busiest * static_cast<double>(tiles) / static_cast<double>(whole),
          .cores = std::min(cores, all)};
}

Deal deal_with_rest(const Attention& a, std::int64_t rows, std::int64_t columns,
                    const device::Spec& device) {
  Deal dealt = deal(a, rows, columns, Masked::tiles, device);
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const std::int64_t all = a.kept(rows, columns);
  const std::int64_t turns = all / cores, left = all % cores;
  if (turns == 0 || left == 0 || cores / left < 2) return dealt;
  dealt.rounds *= static_cast<double>(turns) / static_cast<double>(turns + 1);
  dealt.rest = ceil_divide(columns, cores / left);
  return dealt;
}

Modelled gradient_of(const Attention& a, const Deal& dealt, Passes passes,
                     const device::Spec& device, const Writer& write) {
  const device::Share share = share_of(device, dealt.cores);
  const Rounds rounds = run_rounds(device, share, dealt.rounds, 8, write);
  const TensorBytes tensors = tensors_of(a);
  const double waiting = std::max(0.0, seconds_of(device, hbm_time(device, tensors.inputs)) -
                                           seconds_of(device, rounds.makespan));
  const double steps = work_of(a, device).flop / 2 / peak_rate(device, a.element);
  return finished(rounds,
                  waiting + device.overheads.launch.value + pass_time(tensors, passes, device),
                  share, steps, device);
}

Workload work_of(const Attention& a, const device::Spec& device) {
  const bool forward = a.direction == Direction::forward;
  const std::int64_t of_pair =
      forward ? a.channels() + a.channels_v() : 3 * a.channels() + 2 * a.channels_v();
  const TensorBytes tensors = tensors_of(a);
  return {
      .flop = 2 * static_cast<double>(a.blocks() * edge * edge * of_pair),
      .peak = 2 * peak_rate(device, a.element) * device.cores.cube.value * device.cores.clock.value,
      .compulsory = {tensors.inputs, tensors.outputs},
      .utilised = "cube",
      .direction = a.direction};
}

Bytes operand_tile(const Attention& a) {
  return edge * device::round_up(a.channels(), 16) * a.element;
}

device::TaskId load_tile(device::Instructions& code, const Attention& a, Tile tile,
                         device::TaskId after) {
  return load_rows(code, a, {tile, edge}, after);
}

device::TaskId load_half_tile(device::Instructions& code, const Attention& a, Tile tile,
                              device::TaskId after) {
  return load_rows(code, a, {tile, edge / 2}, after);
}

device::Scratchpad vector_buffers(const Attention& a, std::int64_t buffers, std::int64_t numbers,
                                  const device::Spec& device) {
  device::Scratchpad ub("UB", bytes_of(device.memories.ub), bytes_of(device.memories.ub_alignment));
  for (const char* kind : {"scores", "dP"}) ub.allocate({buffers * numbers * fp32_bytes}, kind);
  for (const char* kind : {"P", "dS"}) ub.allocate(buffers * numbers * a.element, kind);
  for (const auto& held : a.features.held)
    ub.allocate(buffers * Features::bytes_of(held, numbers), held.what);
  return ub;
}

std::vector<Buffer> listed(const std::vector<device::Scratchpad>& memories) {
  std::vector<Buffer> all;
  for (const device::Scratchpad& memory : memories)
    for (const auto& tile : memory.tiles())
      all.push_back({memory.name(), tile.what, tile.offset, tile.size});
  return all;
}

}  // namespace assay::optimized::schedules
