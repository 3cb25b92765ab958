#include "schedules/gradient_time.hpp"

#include <algorithm>

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;

constexpr std::int64_t edge = 128, fp32_bytes = 4;
constexpr Bytes half = {2};

struct TensorBytes {
  Bytes inputs, outputs, sums, row_inputs;
};

TensorBytes tensors_of(const Attention& a) {
  const std::int64_t q = a.heads * a.seq_q * a.head_dim, kv = a.heads_kv * a.seq_kv * a.head_dim;
  return {.inputs = (3 * q + 2 * kv) * half,
          .outputs = (q + 2 * kv) * half,
          .sums = {(q + 2 * kv) * fp32_bytes},
          .row_inputs = 2 * q * half};
}

Bytes beyond_l2(Bytes size, const device::Spec& device) {
  return {std::max<std::int64_t>(0, size.count - bytes_of(device.memories.l2).count)};
}

/// Sums are cleared, rows of dy * attention added up, and sums scaled and stored as outputs.
double pass_time(const TensorBytes& t, Passes passes, const device::Spec& device) {
  const Bytes missing = beyond_l2(t.sums, device);
  const double before = passes == Passes::joined
                            ? pass_seconds(device, t.row_inputs, t.sums, t.row_inputs + missing)
                            : pass_seconds(device, {}, t.sums, missing) +
                                  pass_seconds(device, t.row_inputs, {}, t.row_inputs);
  return before + pass_seconds(device, t.sums, t.outputs, missing + t.outputs);
}

/// Rounds of one head that hold a pair which is kept.
std::int64_t kept_rounds(const Attention& a, std::int64_t rows, std::int64_t columns) {
  const std::int64_t bands = ceil_divide(a.seq_q, edge * rows);
  const std::int64_t across = ceil_divide(a.seq_kv, edge * columns);
  if (!a.causal) return bands * across;
  std::int64_t kept = 0;
  for (std::int64_t band = 1; band <= bands; ++band) {
    const std::int64_t last = std::min(band * rows * edge, a.seq_q) + a.seq_kv - a.seq_q;
    kept += std::clamp<std::int64_t>(ceil_divide(last, edge * columns), 0, across);
  }
  return kept;
}

}  // namespace

Deal deal(const Attention& a, std::int64_t rows, std::int64_t columns, Masked masked,
          const device::Spec& device) {
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const bool in_stream = a.causal && masked == Masked::stream;
  const std::int64_t all =
      in_stream ? ceil_divide(a.blocks(), rows * columns) : a.heads * kept_rounds(a, rows, columns);
  const std::int64_t whole = all * rows * columns;
  const std::int64_t tiles = a.causal && masked == Masked::whole ? whole : a.blocks();
  const auto busiest = static_cast<double>(ceil_divide(all, cores));
  return {.rounds = busiest * static_cast<double>(tiles) / static_cast<double>(whole),
          .cores = std::min(cores, all)};
}

Modelled gradient_of(const Attention& a, const Deal& dealt, Passes passes,
                     const device::Spec& device, const Writer& write) {
  const device::Share share = share_of(device, dealt.cores);
  const Rounds rounds = run_rounds(device, share, dealt.rounds, 8, write);
  const TensorBytes tensors = tensors_of(a);
  const double waiting = std::max(0.0, seconds_of(device, hbm_time(device, tensors.inputs)) -
                                           seconds_of(device, rounds.makespan));
  const double steps =
      5.0 * static_cast<double>(a.blocks() * edge * edge * a.head_dim) / peak_rate(device, half);
  return finished(rounds,
                  waiting + device.overheads.launch.value + pass_time(tensors, passes, device),
                  share, steps, device);
}

Bytes operand_tile(const Attention& a) { return edge * device::round_up(a.head_dim, 16) * half; }

device::Scratchpad vector_buffers(std::int64_t buffers, std::int64_t numbers,
                                  const device::Spec& device) {
  device::Scratchpad ub("UB", bytes_of(device.memories.ub), bytes_of(device.memories.ub_alignment));
  for (const char* kind : {"scores", "dP"}) ub.allocate({buffers * numbers * fp32_bytes}, kind);
  for (const char* kind : {"P", "dS"}) ub.allocate(buffers * numbers * half, kind);
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
