#include <algorithm>
#include <vector>

#include "assay/optimized/schedules/attention.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/vector_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Drain;
using device::Pipe;
using device::Region;
using device::TaskId;

constexpr std::int64_t edge = 128, fp32_bytes = 4;
constexpr Bytes half = {2};

/// Writes the instructions of a forward kernel for one core. The cube (matrix) core computes query
/// key^T of a tile, then the product of P and value of an earlier tile. In parallel, the vector
/// cores compute softmax and sums.
class Writing {
 public:
  Writing(const Attention& attention, const Forward& schedule, device::Instructions& code)
      : a_(attention),
        s_(schedule),
        code_(code),
        cube_(code, half, 2),
        vector_(code, 2, 8192, half) {}

  void write(std::int64_t tiles) {
    std::vector<TaskId> probs;
    TaskId summed = device::none;
    for (std::int64_t step = 0; step < tiles + s_.ahead; ++step) {
      TaskId scores = device::none;
      if (step < tiles) scores = code_.add_handover(Pipe::fixpipe, {score_product()});
      const std::int64_t before = step - s_.ahead;
      if (before >= 0) summed = weighted_sum(probs[static_cast<std::size_t>(before)]);
      if (step < tiles) probs.push_back(softmax(scores));
      if (before >= 0) vector_.rescale(of_vector(a_.head_dim), summed);
    }
  }

 private:
  /// Returns the number of scores that one of two vector cores processes in `columns` columns.
  std::int64_t of_vector(std::int64_t columns) const { return s_.rows * columns / 2; }

  TaskId softmax(TaskId scores) {
    return code_.add_handover(Pipe::mte3, {vector_.forward_softmax(of_vector(s_.columns), scores)});
  }

  TaskId score_product() {
    const TaskId query = code_.load(rows_of(s_.rows), {query_.take()});
    TaskId drained = device::none, read = device::none;
    for (std::int64_t at = 0; at < s_.columns; at += edge) {
      const TaskId key = code_.load(rows_of(edge), {key_.take()});
      Accumulator sum = cube_.open();
      read = cube_.multiply(sum, {s_.rows, edge, a_.head_dim}, query, key);
      key_.give(read);
      drained = cube_.drain(sum, {s_.rows * edge * fp32_bytes}, Drain::store);
    }
    query_.give(read);
    return drained;
  }

  TaskId weighted_sum(TaskId ready) {
    Accumulator sum = cube_.open();
    for (std::int64_t at = 0; at < s_.columns; at += edge) {
      const TaskId value = code_.load(rows_of(edge), {value_.take()});
      const TaskId prob =
          code_.load({.rows = 1, .row = s_.rows * edge * half}, {prob_.take(), ready});
      const TaskId read = cube_.multiply(sum, {s_.rows, a_.head_dim, edge}, prob, value);
      prob_.give(read), value_.give(read);
    }
    const TaskId drained = cube_.drain(sum, {s_.rows * a_.head_dim * fp32_bytes}, Drain::store);
    return code_.add_handover(Pipe::fixpipe, {drained});
  }

  Region rows_of(std::int64_t rows) const {
    return {.rows = rows, .row = a_.head_dim * half, .contiguous = a_.contiguous};
  }

  const Attention& a_;
  const Forward& s_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring query_{2}, key_{2}, prob_{2}, value_{2};
};

}  // namespace

Modelled model(const Attention& a, const Forward& s, const device::Spec& device) {
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const std::int64_t row_blocks = a.heads * ceil_divide(a.seq_q, s.rows);
  const std::int64_t active = std::min(cores, row_blocks);
  const std::int64_t all_tiles = ceil_divide(a.blocks() * edge * edge, s.rows * s.columns);
  const std::int64_t tiles =
      a.causal ? ceil_divide(all_tiles, cores)
               : ceil_divide(row_blocks, cores) * ceil_divide(a.seq_kv, s.columns);
  const device::Share share = share_of(device, active);
  const Rounds rounds = run_rounds(
      device, share, static_cast<double>(tiles), 16,
      [&](device::Instructions& code, std::int64_t count) { Writing(a, s, code).write(count); });
  const double steps =
      2.0 * static_cast<double>(a.blocks() * edge * edge * a.head_dim) / peak_rate(device, half);
  return finished(rounds, device.overheads.launch.value, share, steps, device);
}

}  // namespace assay::optimized::schedules
