#include "schedules/forward_tiles.hpp"

#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/vector_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Drain;
using device::Pipe;
using device::Region;
using device::TaskId;

constexpr std::int64_t edge = 128, fp32_bytes = 4, vector_cores = 2, vector_buffers_of_kind = 2;

std::size_t count_of(std::int64_t buffers) { return static_cast<std::size_t>(buffers); }

/// Returns the numbers that one of two vector cores processes in `columns` columns of a row block.
std::int64_t of_vector(const ForwardTiles& t, std::int64_t columns) {
  return ceil_divide(t.group * t.filled_rows * columns, vector_cores);
}

/// Writes the instructions of a forward kernel for one core. The cube (matrix) core computes query
/// key^T of a tile, then the product of P and value of an earlier tile. In parallel, the vector
/// cores compute softmax and sums.
class Writing {
 public:
  Writing(const ForwardTiles& tiles, device::Instructions& code)
      : t_(tiles),
        code_(code),
        cube_(code, tiles.element, 2),
        vector_(code, vector_buffers_of_kind, tiles.vector_tile, tiles.element, Exchange::rows,
                tiles.features),
        query_(count_of(tiles.buffers * tiles.group)),
        key_(count_of(tiles.buffers)),
        prob_(count_of(tiles.buffers)),
        value_(count_of(tiles.buffers)) {}

  void write(std::int64_t tiles) {
    std::vector<TaskId> probs;
    TaskId summed = device::none;
    for (std::int64_t step = 0; step < tiles + t_.ahead; ++step) {
      TaskId scores = device::none;
      if (step < tiles) scores = code_.add_handover(Pipe::fixpipe, {score_product()});
      const std::int64_t before = step - t_.ahead;
      if (before >= 0) summed = weighted_sum(probs[static_cast<std::size_t>(before)]);
      if (step < tiles) probs.push_back(softmax(scores));
      if (before >= 0)
        vector_.rescale(of_vector(t_, t_.channels_v), summed,
                        {ceil_divide(t_.results.count, vector_cores)});
    }
  }

 private:
  TaskId softmax(TaskId scores) {
    return code_.add_handover(Pipe::mte3,
                              {vector_.forward_softmax(of_vector(t_, t_.columns), scores)});
  }

  TaskId load(const std::vector<Region>& parts, device::Ring& buffers) {
    TaskId loaded = buffers.take();
    for (const Region& part : parts) loaded = code_.load(part, {loaded});
    return loaded;
  }

  TaskId score_product() {
    std::vector<TaskId> queries;
    for (std::int64_t tile = 0; tile < t_.group; ++tile) queries.push_back(load(t_.query, query_));
    TaskId drained = device::none, read = device::none;
    for (std::int64_t at = 0; at < t_.columns; at += t_.keys) {
      const TaskId key = load(t_.key, key_);
      for (const TaskId query : queries) {
        Accumulator sum = cube_.open();
        read = cube_.multiply(sum, {t_.rows, t_.keys, t_.channels}, query, key);
        drained = cube_.drain(sum, {t_.filled_rows * t_.keys * fp32_bytes}, Drain::store);
      }
      key_.give(read);
    }
    for (std::size_t tile = 0; tile < queries.size(); ++tile) query_.give(read);
    return drained;
  }

  TaskId weighted_sum(TaskId ready) {
    std::vector<Accumulator> sums;
    for (std::int64_t tile = 0; tile < t_.group; ++tile) sums.push_back(cube_.open());
    for (std::int64_t at = 0; at < t_.columns; at += t_.keys) {
      const TaskId value = load(t_.value, value_);
      TaskId read = device::none;
      for (Accumulator& sum : sums) {
        const TaskId prob = code_.load({.rows = 1, .row = t_.filled_rows * t_.keys * t_.element},
                                       {prob_.take(), ready});
        read = cube_.multiply(sum, {t_.rows, t_.channels_v, t_.keys}, prob, value);
        prob_.give(read);
      }
      value_.give(read);
    }
    TaskId drained = device::none;
    for (const Accumulator& sum : sums)
      drained = cube_.drain(sum, {t_.filled_rows * t_.channels_v * fp32_bytes}, Drain::store);
    return code_.add_handover(Pipe::fixpipe, {drained});
  }

  const ForwardTiles& t_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring query_, key_, prob_, value_;
};

/// Returns the buffers of a vector core. P replaces the scores from which it was computed. The sums
/// of a row block stay until its last tile.
device::Scratchpad vector_buffers(const ForwardTiles& t, const device::Spec& device) {
  device::Scratchpad ub("UB", bytes_of(device.memories.ub), bytes_of(device.memories.ub_alignment));
  const std::int64_t sums = of_vector(t, t.channels_v);
  ub.allocate({vector_buffers_of_kind * t.vector_tile * fp32_bytes}, "scores and P");
  ub.allocate({vector_buffers_of_kind * std::min(t.vector_tile, sums) * fp32_bytes},
              "products of P and value");
  ub.allocate({sums * fp32_bytes}, "sums");
  ub.allocate(ceil_divide(t.group * t.filled_rows, vector_cores) * statistics_of_row,
              "maxima and sums of rows");
  for (const Features::Held& held : t.features.held)
    ub.allocate(vector_buffers_of_kind * Features::bytes_of(held, t.vector_tile), held.what);
  return ub;
}

}  // namespace

std::vector<Buffer> buffers_of(const ForwardTiles& t, const device::Spec& device) {
  const auto& m = device.memories;
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate(t.buffers * t.group * t.rows * t.channels * t.element, "query tiles");
  l1.allocate(t.buffers * t.keys * t.channels * t.element, "key tiles");
  l1.allocate(t.buffers * t.keys * t.channels_v * t.element, "value tiles");
  l1.allocate(t.buffers * t.rows * t.keys * t.element, "tiles of P");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  // If a sum has more than 128 channels, its slices of channels are computed one after the other.
  for (const char* turn : {"ping", "pong"})
    l0c.allocate({t.rows * std::max(t.keys, std::min(t.channels_v, edge)) * fp32_bytes},
                 std::string("sum ") + turn);
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  const std::int64_t tiles =
      static_cast<std::int64_t>(device.cores.cube.value) * (t.ahead + 1) * t.group * t.filled_rows;
  l2.allocate({tiles * t.columns * fp32_bytes}, "scores");
  l2.allocate(tiles * t.columns * t.element, "P");
  l2.allocate({tiles * t.channels_v * fp32_bytes}, "products of P and value");
  return listed({l1, l0c, vector_buffers(t, device), l2});
}

device::Program program_of(const ForwardTiles& t, const device::Spec& device, std::int64_t count) {
  device::Instructions code(device);
  Writing(t, code).write(count);
  return code.program();
}

Modelled model(const ForwardTiles& t, double count, std::int64_t active, const Workload& work,
               const device::Spec& device) {
  buffers_of(t, device);
  const device::Share share = share_of(device, active);
  const Rounds rounds = run_rounds(
      device, share, count, 16,
      [&](device::Instructions& code, std::int64_t tiles) { Writing(t, code).write(tiles); });
  const Bytes tensors = work.compulsory.read + work.compulsory.written;
  const double waiting = std::max(
      0.0, seconds_of(device, hbm_time(device, tensors)) - seconds_of(device, rounds.makespan));
  return finished(rounds, waiting + device.overheads.launch.value, share,
                  work.flop / 2 / peak_rate(device, t.element), device);
}

}  // namespace assay::optimized::schedules
