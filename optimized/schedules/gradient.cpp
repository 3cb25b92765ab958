#include "assay/optimized/schedules/gradient.hpp"

#include <algorithm>
#include <vector>

#include "assay/device/scratchpad.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/vector_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;
using device::Drain;
using device::Pipe;
using device::TaskId;

constexpr std::int64_t edge = 128, fp32_bytes = 4;

std::size_t count(std::int64_t buffers) { return static_cast<std::size_t>(buffers); }

/// Writes the instructions of one core: a sequence of equal iterations of the gradient.
class Writing {
 public:
  Writing(const Attention& attention, const Round& round, device::Instructions& code)
      : a_(attention),
        r_(round),
        code_(code),
        cube_(code, attention.element, 2),
        vector_(code, count(round.vector_buffers), round.vector_tile, attention.element,
                round.exchange, attention.features),
        rows_(count(round.row_buffers)),
        columns_(count(round.column_buffers)),
        scores_(count(round.score_buffers)) {}

  void write(std::int64_t rounds) {
    TaskId staged = device::none;
    for (std::int64_t round = 0; round < rounds; ++round) {
      const TaskId scores = code_.add_handover(Pipe::fixpipe, {scores_and_dprob()});
      if (round > 0) gradients(staged);
      // Each of the two vector cores processes half of the rows of every tile.
      const std::int64_t tiles = r_.rows * r_.columns;
      staged =
          code_.add_handover(Pipe::mte3, {vector_.gradient(tiles * edge * edge / 2, scores, {})});
    }
    gradients(staged);
  }

 private:
  /// A tile in L1: the instruction that loads the tile, and the last instruction that reads the
  /// tile.
  struct Held {
    TaskId loaded, read = device::none;
  };

  Held hold(device::Ring& ring, Tile of) {
    return {.loaded = load_tile(code_, a_, of, ring.take())};
  }

  std::vector<Held> hold(device::Ring& ring, Tile of, std::int64_t tiles) {
    std::vector<Held> all;
    for (std::int64_t tile = 0; tile < tiles; ++tile) all.push_back(hold(ring, of));
    return all;
  }

  static void release(device::Ring& ring, const std::vector<Held>& tiles) {
    for (const Held& tile : tiles) ring.give(tile.read);
  }

  std::int64_t channels(Tile of) const { return of == Tile::key ? a_.channels() : a_.channels_v(); }

  Held score_tile(TaskId ready) {
    return {.loaded =
                code_.load({.rows = 1, .row = edge * edge * a_.element}, {scores_.take(), ready})};
  }

  TaskId scores_and_dprob() {
    score_product(Tile::key);
    return score_product(Tile::value);
  }

  /// Computes query key^T or dy value^T; `of` selects the product. A group of row tiles stays in L1
  /// for all columns.
  TaskId score_product(Tile of) {
    TaskId drained = device::none;
    for (std::int64_t first = 0; first < r_.rows; first += r_.group) {
      std::vector<Held> rows = hold(rows_, of, std::min(r_.group, r_.rows - first));
      for (std::int64_t c = 0; c < r_.columns; ++c) {
        Held column = hold(columns_, of);
        for (Held& row : rows) {
          Accumulator sum = cube_.open();
          row.read = column.read =
              cube_.multiply(sum, {edge, edge, channels(of)}, row.loaded, column.loaded);
          drained = cube_.drain(sum, {edge * edge * fp32_bytes}, Drain::store);
        }
        columns_.give(column.read);
      }
      release(rows_, rows);
    }
    return drained;
  }

  void gradients(TaskId staged) {
    if (r_.dscore_columns > 0)
      dq_and_dk_of_held_dscore(staged);
    else {
      dq(staged);
      column_gradient(staged, Tile::key);
    }
    column_gradient(staged, Tile::value);
  }

  void drain_sum(const Accumulator& sum, Tile of = Tile::key) {
    cube_.drain(sum, {edge * channels(of) * fp32_bytes}, Drain::atomic_add);
  }

  /// Computes dq of two row tiles at a time. The keys are read again for every two row tiles,
  /// unless they stay in L1.
  void dq(TaskId staged) {
    std::vector<Held> keys;
    if (r_.keys_stay) keys = hold(columns_, Tile::key, r_.columns);
    const std::int64_t together = r_.keys_stay ? 1 : 2;
    for (std::int64_t first = 0; first < r_.rows; first += together) {
      std::vector<Accumulator> sums;
      for (std::int64_t r = first; r < std::min(first + together, r_.rows); ++r)
        sums.push_back(cube_.open());
      for (std::int64_t c = 0; c < r_.columns; ++c) {
        Held key = r_.keys_stay ? keys[count(c)] : hold(columns_, Tile::key);
        for (Accumulator& sum : sums) {
          const Held dscore = score_tile(staged);
          key.read = cube_.multiply(sum, {edge, a_.channels(), edge}, dscore.loaded, key.loaded);
          scores_.give(key.read);
        }
        if (r_.keys_stay)
          keys[count(c)] = key;
        else
          columns_.give(key.read);
      }
      for (const Accumulator& sum : sums) drain_sum(sum);
    }
    release(columns_, keys);
  }

  /// Computes dk or dv. Query or dy of all row tiles stay in L1, and the tiles of dS or P are
  /// loaded column by column.
  void column_gradient(TaskId staged, Tile of) {
    std::vector<Held> rows = hold(rows_, of, r_.rows);
    for (std::int64_t c = 0; c < r_.columns; ++c) {
      Accumulator sum = cube_.open();
      for (Held& row : rows) {
        const Held tile = score_tile(staged);
        row.read = cube_.multiply(sum, {edge, channels(of), edge}, tile.loaded, row.loaded);
        scores_.give(row.read);
      }
      drain_sum(sum, of);
    }
    release(rows_, rows);
  }

  /// Computes dq and dk together, so that each tile of dS is read only once. dS of some columns
  /// stays in L1. For these columns together, each sum of dq is added to global memory once.
  void dq_and_dk_of_held_dscore(TaskId staged) {
    std::vector<Held> rows = hold(rows_, Tile::key, r_.rows);
    for (std::int64_t first = 0; first < r_.columns; first += r_.dscore_columns) {
      const std::int64_t columns = std::min(r_.dscore_columns, r_.columns - first);
      std::vector<Held> keys = hold(columns_, Tile::key, columns), dscore;
      for (std::int64_t r = 0; r < r_.rows; ++r) {
        Accumulator sum = cube_.open();
        for (Held& key : keys) {
          dscore.push_back(score_tile(staged));
          key.read =
              cube_.multiply(sum, {edge, a_.channels(), edge}, dscore.back().loaded, key.loaded);
        }
        drain_sum(sum);
      }
      release(columns_, keys);
      for (std::int64_t c = 0; c < columns; ++c) {
        Accumulator sum = cube_.open();
        for (std::int64_t r = 0; r < r_.rows; ++r) {
          Held& tile = dscore[count(r * columns + c)];
          tile.read = rows[count(r)].read =
              cube_.multiply(sum, {edge, a_.channels(), edge}, tile.loaded, rows[count(r)].loaded);
        }
        drain_sum(sum);
      }
      release(scores_, dscore);
    }
    release(rows_, rows);
  }

  const Attention& a_;
  const Round& r_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring rows_, columns_, scores_;
};

}  // namespace

Round basic() { return {.group = 2, .masked = Masked::stream}; }

Round same_ab() {
  return {.group = 4,
          .dscore_columns = 2,
          .row_buffers = 4,
          .column_buffers = 4,
          .score_buffers = 8,
          .masked = Masked::whole,
          .exchange = Exchange::tiles};
}

std::string Round::to_text() const {
  return "rounds of " + std::to_string(rows) + " x " + std::to_string(columns) + " tiles, " +
         std::to_string(group) + " rows loaded together" + (keys_stay ? ", keys stay in L1" : "") +
         (dscore_columns > 0 ? ", dS of " + std::to_string(dscore_columns) + " columns stays"
                             : "") +
         "; L1: " + std::to_string(row_buffers) + " tiles of rows, " +
         std::to_string(column_buffers) + " of columns, " + std::to_string(score_buffers) +
         " of P and dS; UB: " + std::to_string(vector_buffers) + " x " +
         std::to_string(vector_tile) + " numbers";
}

std::vector<Buffer> buffers_of(const Attention& a, const Round& r, const device::Spec& device) {
  const auto& m = device.memories;
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate(r.row_buffers * operand_tile(a), "row tiles");
  l1.allocate(r.column_buffers * operand_tile(a), "column tiles");
  l1.allocate(r.score_buffers * (edge * edge * a.element), "tiles of P and dS");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  // If a sum has more than 128 channels, its slices of channels are computed one after the other.
  for (const char* turn : {"ping", "pong"})
    l0c.allocate({edge * edge * fp32_bytes}, std::string("sum ") + turn);
  // P and dS use the same memory as scores and dP. Each core has memory for two iterations.
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  l2.allocate({cores * 2 * r.rows * r.columns * edge * edge * 2 * fp32_bytes}, "scores and dP");
  return listed({l1, l0c, vector_buffers(a, r.vector_buffers, r.vector_tile, device), l2});
}

device::Program program_of(const Attention& a, const Round& r, const device::Spec& device,
                           std::int64_t rounds) {
  device::Instructions code(device);
  Writing(a, r, code).write(rounds);
  return code.program();
}

Modelled model(const Attention& a, const Round& r, const device::Spec& device) {
  buffers_of(a, r, device);
  return gradient_of(
      a, deal(a, r.rows, r.columns, r.masked, device), Passes::apart, device,
      [&](device::Instructions& code, std::int64_t count) { Writing(a, r, code).write(count); });
}

}  // namespace assay::optimized::schedules
