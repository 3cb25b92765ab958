#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/gradient.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/vector_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::Drain;
using device::Pipe;
using device::TaskId;

constexpr std::int64_t edge = 128, fp32_bytes = 4;

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

/// A tile in L1: the instruction that loads the tile, and the last instruction that reads the tile.
struct Held {
  TaskId loaded, read = device::none;
};

/// The order in which an iteration computes the gradients. The memory of P is free after dv, the
/// memory of dS after dk.
enum class Pass : std::uint8_t { dq, dv, dk };

/// The position of a matrix product in a pass. The pass computes `sums` sums of `terms` products
/// each.
struct Place {
  std::int64_t sum, sums, term, terms;
};

/// The kernel interleaves two iterations: between half tiles of scores and dP of one iteration, it
/// computes matrix products of the previous iteration. `products` is the number of these products.
/// Returns how many of them the kernel computes before half tile number `halves`.
std::size_t products_due(std::int64_t halves, std::int64_t tiles, std::size_t products) {
  return products * index(halves) / index(4 * tiles);
}

/// The maximum numbers of tiles of P and of dS that are in global memory at the same time.
struct Exchanged {
  std::int64_t probs, dscores;
};

/// Returns the maximum number of tiles of P and of dS that are stored but not yet read, over a
/// whole iteration.
Exchanged exchanged(const Woven& w) {
  const std::int64_t tiles = w.rows * w.columns;
  Exchanged most = {0, 0};
  for (std::int64_t first = 0; first < w.rows; first += w.group) {
    const std::int64_t rows = std::min(w.group, w.rows - first);
    for (std::int64_t c = 1; c <= w.columns; ++c) {
      const std::int64_t stored = first * w.columns + rows * c;
      const auto read = static_cast<std::int64_t>(
          products_due(4 * stored, tiles, index(static_cast<std::int64_t>(3) * tiles)));
      const auto read_of = [&](std::int64_t pass) {
        return std::clamp<std::int64_t>(read - pass * tiles, 0, tiles);
      };
      most.probs = std::max(most.probs, tiles + stored - read_of(1));
      most.dscores = std::max(most.dscores, tiles + stored - read_of(2));
    }
  }
  return most;
}

/// Writes the instructions of one core for the woven schedule, which interleaves the products of
/// two iterations.
class Weaving {
 public:
  Weaving(const Attention& attention, const Woven& woven, device::Instructions& code)
      : a_(attention),
        w_(woven),
        code_(code),
        cube_(code, attention.element, 1, 2),
        vector_(code, index(woven.vector_buffers), woven.vector_tile, attention.element,
                Exchange::rows, attention.features),
        rows_(index(2 * woven.group)),
        columns_(index(woven.stream)),
        stay_(index(woven.stay())),
        scores_(index(woven.score_buffers)),
        room_(index(woven.steps)),
        probs_(index(exchanged(woven).probs)),
        dscores_(index(exchanged(woven).dscores)) {}

  /// Writes `rounds` iterations. If `rest` is not 0, also writes a last iteration with only `rest`
  /// columns.
  void write(std::int64_t rounds, std::int64_t rest) {
    for (std::int64_t round = 0; round < rounds; ++round) write_round(w_.columns);
    if (rest > 0) write_round(rest);
    add_products(due_.size());
  }

 private:
  void write_round(std::int64_t columns) {
    of_round_ = columns;
    std::vector<TaskId> staged;
    scores_and_dprob(staged);
    add_products(due_.size());
    due_ = gradients_of(staged);
    done_ = 0;
  }

  /// Computes the products of the previous iteration that are not done yet, up to index `until`
  /// (exclusive).
  void add_products(std::size_t until) {
    for (; done_ < std::min(until, due_.size()); ++done_) due_[done_]();
  }

  /// Computes scores and dP of an iteration. Between their products, computes products of the
  /// previous iteration.
  void scores_and_dprob(std::vector<TaskId>& staged) {
    halves_ = 0;
    for (std::int64_t first = 0; first < w_.rows; first += w_.group) {
      const std::int64_t rows = std::min(w_.group, w_.rows - first);
      const TaskId stored = group_of(rows);
      const TaskId seen = code_.add_handover(Pipe::mte3, {stored});
      staged.insert(staged.end(), index(rows), seen);
    }
  }

  /// Computes a group of row tiles. For each column, the cube (matrix) core computes scores and dP,
  /// then the vector cores compute P and dS.
  TaskId group_of(std::int64_t rows) {
    std::vector<Held> query, dy;
    TaskId stored = device::none;
    for (std::int64_t c = 0; c < of_round_; ++c) {
      const TaskId room = room_.take();
      products(query, rows, Tile::key, room);
      stored = stage(rows, products(dy, rows, Tile::value, room));
      room_.give(stored);
    }
    release(query), release(dy);
    return stored;
  }

  /// Multiplies some row tiles by a column tile: by its first half, then by its second half.
  /// Returns the instruction that writes the last product to global memory. Each row tile is loaded
  /// just before its first use; until then the previous iteration can use its buffer.
  TaskId products(std::vector<Held>& rows, std::int64_t count, Tile of, TaskId room) {
    const Extents extents = {edge, edge / 2, channels(of)};
    const bool stays = cube_.can_hold(extents);
    TaskId drained = device::none;
    for (int part = 0; part < 2; ++part) {
      Held half = {load_half_tile(code_, a_, of, columns_.take())};
      if (stays) half.loaded = half.read = cube_.hold(extents, half.loaded);
      Accumulator sum = {};
      for (std::int64_t row = 0; row < count; ++row) {
        if (index(row) == rows.size()) rows.push_back(hold(rows_, of));
        sum = cube_.open_narrow();
        TaskId& read = rows[index(row)].read;
        const TaskId left = rows[index(row)].loaded;
        if (stays)
          read = cube_.multiply_held(sum, extents, left, half.loaded);
        else
          read = half.read = cube_.multiply(sum, extents, left, half.loaded);
        drained = cube_.drain(sum, {edge * edge / 2 * fp32_bytes}, Drain::store, room);
        add_products(products_due(++halves_, w_.rows * of_round_, due_.size()));
      }
      if (stays) cube_.release(sum);
      columns_.give(half.read);
    }
    return drained;
  }

  std::int64_t channels(Tile of) const { return of == Tile::key ? a_.channels() : a_.channels_v(); }

  /// Computes P and dS of one tile per row, for `rows` rows of tiles.
  TaskId stage(std::int64_t rows, TaskId drained) {
    const TaskId scores = code_.add_handover(Pipe::fixpipe, {drained});
    TaskId stored = device::none;
    for (std::int64_t row = 0; row < rows; ++row)
      stored = vector_.gradient(edge * edge / 2, scores, {probs_.take(), dscores_.take()});
    return stored;
  }

  /// Returns the products of the gradients in their order: first dq row by row, while the keys stay
  /// in L1, then dv and dk column by column, while dy and query stay in L1.
  std::vector<std::function<void()>> gradients_of(const std::vector<TaskId>& staged) {
    std::vector<std::function<void()>> products;
    for (const Pass pass : {Pass::dq, Pass::dv, Pass::dk}) {
      const bool of_rows = pass == Pass::dq;
      const std::int64_t sums = of_rows ? w_.rows : of_round_;
      const std::int64_t terms = of_rows ? of_round_ : w_.rows;
      for (std::int64_t sum = 0; sum < sums; ++sum)
        for (std::int64_t term = 0; term < terms; ++term) {
          const TaskId ready = of_rows ? staged[index(sum)] : staged.back();
          products.emplace_back([=, this] { add(pass, {sum, sums, term, terms}, ready); });
        }
    }
    return products;
  }

  /// Computes one product of a pass (dq, dv or dk) and adds the product to its sum. The tile of P
  /// or dS is loaded in halves, so that loads overlap with products. The operands that stay in L1
  /// are loaded for the first sum and freed after the last sum.
  void add(Pass pass, const Place& at, TaskId ready) {
    const auto& [sum, sums, term, terms] = at;
    const Tile of = pass == Pass::dv ? Tile::value : Tile::key;
    const std::int64_t width = channels(of);
    if (sum == 0 && term == 0) kept_.clear();
    if (sum == 0) kept_.push_back(hold(stay_, of));
    if (term == 0) open_.push_back(cube_.open());
    Held& operand = kept_[index(term)];
    TaskId tile = device::none;
    for (int part = 0; part < 2; ++part) {
      tile = code_.load({.rows = 1, .row = edge * edge / 2 * a_.element}, {scores_.take(), ready});
      operand.read = cube_.multiply(open_.back(), {edge, width, edge / 2}, tile, operand.loaded);
      scores_.give(operand.read);
    }
    // P is read once (for dv), dS twice: first for dq, then for dk.
    if (pass == Pass::dv) probs_.give(tile);
    if (pass == Pass::dk) dscores_.give(tile);
    if (sum == sums - 1) stay_.give(operand.read);
    if (term < terms - 1) return;
    cube_.drain(open_.back(), {edge * width * fp32_bytes}, Drain::atomic_add);
    open_.pop_back();
  }

  Held hold(device::Ring& ring, Tile of) {
    return {.loaded = load_tile(code_, a_, of, ring.take())};
  }

  std::vector<Held> hold(device::Ring& ring, Tile of, std::int64_t tiles) {
    std::vector<Held> all;
    for (std::int64_t tile = 0; tile < tiles; ++tile) all.push_back(hold(ring, of));
    return all;
  }

  void release(const std::vector<Held>& rows) {
    for (const Held& row : rows) rows_.give(row.read);
  }

  const Attention& a_;
  const Woven& w_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring rows_, columns_, stay_, scores_, room_, probs_, dscores_;
  std::int64_t of_round_ = 0;  // columns of the current iteration
  std::vector<std::function<void()>> due_;
  std::size_t done_ = 0;
  std::int64_t halves_ = 0;
  std::vector<Held> kept_;
  std::vector<Accumulator> open_;
};

}  // namespace

std::string Woven::to_text() const {
  return "rounds of " + std::to_string(rows) + " x " + std::to_string(columns) +
         " tiles, interleaved; L1: query and dy of " + std::to_string(group) + " rows, " +
         std::to_string(stay()) + " tiles that stay, " + std::to_string(stream) +
         " half tiles of key and value, " + std::to_string(score_buffers) +
         " half tiles of P and dS; L2: " + std::to_string(steps) +
         " columns of scores and dP; UB: " + std::to_string(vector_buffers) + " x " +
         std::to_string(vector_tile) + " numbers";
}

std::vector<Buffer> buffers_of(const Attention& a, const Woven& w, const device::Spec& device) {
  const auto& m = device.memories;
  const Bytes operand = operand_tile(a);
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate(2 * w.group * operand, "query and dy of a group");
  l1.allocate(w.stream * Bytes{operand.count / 2}, "half tiles of key and value");
  l1.allocate(w.stay() * operand, "operands of a gradient");
  l1.allocate(w.score_buffers * (edge * edge / 2 * a.element), "half tiles of P and dS");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  l0c.allocate({edge * a.channels() * fp32_bytes}, "sum of a gradient");
  for (const char* turn : {"ping", "pong"})
    l0c.allocate({edge * edge / 2 * fp32_bytes}, std::string("scores ") + turn);
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  l2.allocate({cores * w.steps * w.group * edge * edge * 2 * fp32_bytes}, "scores and dP");
  const Exchanged tiles = exchanged(w);
  l2.allocate(cores * tiles.probs * edge * edge * a.element, "P, kept until dv is summed");
  l2.allocate(cores * tiles.dscores * edge * edge * a.element, "dS, kept until dk is summed");
  return listed({l1, l0c, vector_buffers(a, w.vector_buffers, w.vector_tile, device), l2});
}

device::Program program_of(const Attention& a, const Woven& w, const device::Spec& device,
                           std::int64_t rounds) {
  device::Instructions code(device);
  Weaving(a, w, code).write(rounds, 0);
  return code.program();
}

Modelled model(const Attention& a, const Woven& w, const device::Spec& device) {
  buffers_of(a, w, device);
  const Deal dealt = deal_with_rest(a, w.rows, w.columns, device);
  return gradient_of(a, dealt, Passes::joined, device,
                     [&](device::Instructions& code, std::int64_t count) {
                       Weaving(a, w, code).write(count, dealt.rest);
                     });
}

}  // namespace assay::optimized::schedules
