#include "assay/optimized/schedules/selected.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "assay/device/scratchpad.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/selected_work.hpp"
#include "schedules/vector_unit.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Drain;
using device::Pipe;
using device::round_up;
using device::TaskId;

constexpr std::int64_t fractal = 16, fp32_bytes = 4, slice = 64, vector_numbers = 8192;
constexpr std::int64_t index_bytes = 4, reader_bytes = 8;

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

/// An operand in L1: the instruction that loads the operand, and the last instruction that reads
/// the operand.
struct Held {
  TaskId loaded, read = device::none;
};

std::int64_t channels(const Selection& s) { return s.head_dim + s.head_dim_v; }

/// Loads the rows of a key block. The rows are adjacent in memory only if there is one key head.
Held load_keys(device::Instructions& code, const Selection& s, std::int64_t dim,
               device::Ring& ring) {
  return {code.load({.rows = s.block, .row = dim * s.element, .contiguous = s.heads_kv == 1},
                    {ring.take()})};
}

/// Loads the rows of some tokens. The query heads of a group are adjacent in memory.
Held load_tokens(device::Instructions& code, const Selection& s, std::int64_t tokens,
                 std::int64_t dim, device::Ring& ring) {
  return {code.load({.rows = tokens, .row = s.group * dim * s.element, .contiguous = tokens == 1},
                    {ring.take()})};
}

/// Writes the instructions of one core, which processes one token after the other.
class TokenWriting {
 public:
  TokenWriting(const Selection& selection, const ByToken& by, device::Instructions& code)
      : s_(selection),
        by_(by),
        code_(code),
        cube_(code, selection.element, 2),
        vector_(code, 1, vector_numbers, selection.element),
        keys_(index(2 * by.chunk)) {
    code.use_vector_cores(by.vector_cores);
  }

  void write(std::int64_t tokens) {
    for (std::int64_t token = 0; token < tokens; ++token) {
      const Held query = load_tokens(code_, s_, 1, s_.head_dim, query_);
      const Held dy = load_tokens(code_, s_, 1, s_.head_dim_v, dy_);
      rows_.push_back({query, dy, {}});
      for (std::int64_t first = 0; first < s_.count; first += by_.chunk) {
        Chunk chunk = scores({token, first, std::min(by_.chunk, s_.count - first)});
        if (before_) gradients(*before_);
        before_ = std::move(chunk);
      }
    }
    if (before_) gradients(*before_);
  }

 private:
  struct Extent {
    std::int64_t token, first, blocks;
  };
  struct Token {
    Held query, dy;
    Accumulator dq;
  };
  struct Chunk {
    Extent of;
    std::vector<Held> keys;
    TaskId staged;
  };

  std::int64_t rows() const { return round_up(s_.group, fractal); }
  std::int64_t exchanged(std::int64_t blocks) const { return s_.group * blocks * s_.block; }

  Chunk scores(const Extent& of) {
    Token& token = rows_.back();
    Chunk chunk = {of, {}, device::none};
    Accumulator sum = cube_.open(), dprob = cube_.open();
    for (std::int64_t block = 0; block < of.blocks; ++block) {
      Held key = load_keys(code_, s_, s_.head_dim, keys_);
      key.read =
          cube_.multiply(sum, {rows(), s_.block, s_.head_dim}, token.query.loaded, key.loaded);
      chunk.keys.push_back(key);
    }
    const Bytes stored = {exchanged(of.blocks) * fp32_bytes};
    cube_.drain(sum, stored, Drain::store);
    for (std::int64_t block = 0; block < of.blocks; ++block) {
      Held value = load_keys(code_, s_, s_.head_dim_v, values_);
      value.read =
          cube_.multiply(dprob, {rows(), s_.block, s_.head_dim_v}, token.dy.loaded, value.loaded);
      values_.give(value.read);
    }
    const TaskId scores =
        code_.add_handover(Pipe::fixpipe, {cube_.drain(dprob, stored, Drain::store)});
    const TaskId made =
        vector_.gradient(exchanged(of.blocks) / by_.vector_cores, scores, VectorUnit::Places{});
    chunk.staged = code_.add_handover(Pipe::mte3, {made});
    return chunk;
  }

  void gradients(Chunk& chunk) {
    Token& token = rows_.front();
    const Bytes tile = exchanged(chunk.of.blocks) * s_.element;
    const TaskId dscore = code_.load({.rows = 1, .row = tile}, {dscore_.take(), chunk.staged});
    const TaskId prob = code_.load({.rows = 1, .row = tile}, {prob_.take(), chunk.staged});
    if (chunk.of.first == 0) token.dq = {.buffers = &dq_, .freed_by = dq_.take()};
    for (Held& key : chunk.keys) {
      key.read = cube_.multiply(token.dq, {rows(), s_.head_dim, s_.block}, dscore, key.loaded);
      keys_.give(key.read);
    }
    for (std::int64_t block = 0; block < chunk.of.blocks; ++block) {
      token.query.read = add_block(s_.head_dim, dscore, token.query.loaded);
      token.dy.read = add_block(s_.head_dim_v, prob, token.dy.loaded);
    }
    dscore_.give(token.query.read), prob_.give(token.dy.read);
    if (chunk.of.first + chunk.of.blocks < s_.count) return;
    cube_.drain(token.dq, {s_.group * s_.head_dim * fp32_bytes}, Drain::store);
    query_.give(token.query.read), dy_.give(token.dy.read);
    rows_.pop_front();
  }

  /// Adds the contribution of one token to dk or dv of a block.
  TaskId add_block(std::int64_t dim, TaskId left, TaskId right) {
    Accumulator sum = {.buffers = &blocks_, .freed_by = blocks_.take()};
    const TaskId read = cube_.multiply(sum, {s_.block, dim, rows()}, left, right);
    cube_.drain(sum, {s_.block * dim * fp32_bytes}, Drain::atomic_add);
    return read;
  }

  const Selection& s_;
  const ByToken& by_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring keys_, query_{2}, dy_{2}, values_{2}, dscore_{2}, prob_{2}, dq_{1}, blocks_{1};
  std::deque<Token> rows_;
  std::optional<Chunk> before_;
};

/// Returns how many small buffers fit in L0C (accumulators) in addition to dk and dv of a block.
/// The small buffers contain tiles of scores or dP, or slices of dq.
std::int64_t narrow_sums(const Selection& s, std::int64_t rows, const device::Spec& device) {
  const std::int64_t left =
      bytes_of(device.memories.l0c).count - s.block * channels(s) * fp32_bytes;
  const std::int64_t width = std::max(s.block, slice);
  return std::clamp<std::int64_t>(left / (rows * width * fp32_bytes), 0, 4);
}

std::int64_t rows_of(const Selection& s, const ByBlock& by) {
  return round_up(by.tokens * s.group, fractal);
}

/// Writes the instructions of one core, which processes tiles of tokens. `of_block`: number of
/// tiles of each key block.
class BlockWriting {
 public:
  BlockWriting(const Selection& selection, const ByBlock& by, std::int64_t of_block,
               device::Instructions& code)
      : s_(selection),
        by_(by),
        of_block_(of_block),
        rows_(rows_of(selection, by)),
        code_(code),
        cube_(code, selection.element, index(narrow_sums(selection, rows_, code.spec()))),
        vector_(code, 1, vector_numbers, selection.element),
        query_(index(by.ahead + 2)),
        dy_(index(by.ahead + 2)) {}

  void write(std::int64_t tiles) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const bool last = (tile + 1) % of_block_ == 0 || tile + 1 == tiles;
      if (tile % of_block_ == 0)
        blocks_.push_back({load_keys(code_, s_, s_.head_dim, key_),
                           load_keys(code_, s_, s_.head_dim_v, value_),
                           {},
                           {},
                           false});
      scores(tile % of_block_ == 0, last);
      if (waiting_.size() > index(by_.ahead)) gradients();
    }
    while (!waiting_.empty()) gradients();
  }

 private:
  struct Block {
    Held key, value;
    Accumulator dk, dv;
    bool open;
  };
  struct Waiting {
    Held query, dy;
    TaskId staged;
    bool first, last;
  };

  void scores(bool first, bool last) {
    Block& block = blocks_.back();
    Held query = load_tokens(code_, s_, by_.tokens, s_.head_dim, query_);
    Held dy = load_tokens(code_, s_, by_.tokens, s_.head_dim_v, dy_);
    product({rows_, s_.block, s_.head_dim}, query, block.key);
    const TaskId drained = product({rows_, s_.block, s_.head_dim_v}, dy, block.value);
    if (last) value_.give(block.value.read);
    const TaskId scores = code_.add_handover(Pipe::fixpipe, {drained});
    const TaskId made =
        vector_.gradient(ceil_divide(rows_ * s_.block, 2), scores, VectorUnit::Places{});
    waiting_.push_back({query, dy, code_.add_handover(Pipe::mte3, {made}), first, last});
  }

  TaskId product(const Extents& of, const Held& rows, Held& column) {
    Accumulator sum = cube_.open();
    column.read = cube_.multiply(sum, of, rows.loaded, column.loaded);
    return cube_.drain(sum, {of.m * of.n * fp32_bytes}, Drain::store);
  }

  void gradients() {
    Waiting tile = waiting_.front();
    waiting_.pop_front();
    Block& block = blocks_.front();
    if (tile.first) {
      block.dk = {.buffers = &dk_, .freed_by = dk_.take()};
      block.dv = {.buffers = &dv_, .freed_by = dv_.take()};
    }
    const Bytes exchanged = rows_ * s_.block * s_.element;
    const TaskId prob = code_.load({.rows = 1, .row = exchanged}, {prob_.take(), tile.staged});
    tile.dy.read = cube_.multiply(block.dv, {s_.block, s_.head_dim_v, rows_}, prob, tile.dy.loaded);
    prob_.give(tile.dy.read), dy_.give(tile.dy.read);
    const TaskId dscore = code_.load({.rows = 1, .row = exchanged}, {dscore_.take(), tile.staged});
    for (std::int64_t at = 0; at < s_.head_dim; at += slice) {
      const std::int64_t width = std::min(slice, s_.head_dim - at);
      Accumulator sum = cube_.open();
      block.key.read = cube_.multiply(sum, {rows_, width, s_.block}, dscore, block.key.loaded);
      cube_.drain(sum, {by_.tokens * s_.group * width * fp32_bytes}, Drain::atomic_add);
    }
    tile.query.read =
        cube_.multiply(block.dk, {s_.block, s_.head_dim, rows_}, dscore, tile.query.loaded);
    dscore_.give(tile.query.read), query_.give(tile.query.read);
    if (!tile.last) return;
    key_.give(block.key.read);
    store(block.dk, s_.head_dim), store(block.dv, s_.head_dim_v);
    blocks_.pop_front();
  }

  /// Writes dk or dv of a block to global memory. If one core computed the whole block, it stores
  /// the result. If several cores share the block, each core adds its part.
  void store(const Accumulator& sum, std::int64_t dim) {
    const Bytes fp32 = {s_.block * dim * fp32_bytes};
    if (by_.parts == 1)
      cube_.drain_as(sum, fp32, s_.block * dim * s_.element);
    else
      cube_.drain(sum, fp32, Drain::atomic_add);
  }

  const Selection& s_;
  const ByBlock& by_;
  std::int64_t of_block_, rows_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring query_, dy_, key_{2}, value_{2}, dscore_{2}, prob_{2}, dk_{1}, dv_{1};
  std::deque<Block> blocks_;
  std::deque<Waiting> waiting_;
};

/// The bytes that every schedule of the problem must at least read and write.
struct Tensors {
  Bytes inputs, outputs, row_inputs, statistics, lists;
  std::int64_t dq = 0, dkv = 0;  ///< in numbers of fp32
};

Tensors tensors_of(const Selection& s) {
  const std::int64_t rows = s.queries * s.heads_kv * s.group, columns = s.keys * s.heads_kv;
  const std::int64_t dq = rows * s.head_dim, dkv = columns * channels(s);
  const Bytes row_inputs = 2 * rows * s.head_dim_v * s.element;
  return {.inputs = (dq + dkv) * s.element + row_inputs,
          .outputs = (dq + dkv) * s.element,
          .row_inputs = row_inputs,
          .statistics = {rows * 32},
          .lists = {s.listings() * index_bytes},
          .dq = dq,
          .dkv = dkv};
}

/// Adds the time of the launch and of the passes over global memory. The passes clear the sums,
/// compute the row sums of dy * attention, invert the lists (only for block-by-block schedules),
/// and store the sums as outputs.
Modelled with_passes(const Selection& s, const Rounds& rounds, std::int64_t sums, bool inverted,
                     const device::Share& share, const device::Spec& device) {
  const Tensors t = tensors_of(s);
  double more = device.overheads.launch.value;
  more += pass_seconds(device, t.row_inputs, Bytes{sums * fp32_bytes} + t.statistics, t.row_inputs);
  if (inverted) more += pass_seconds(device, t.lists, {s.listings() * reader_bytes}, t.lists);
  const Bytes outputs = sums * s.element;
  more += pass_seconds(device, {sums * fp32_bytes}, outputs, outputs);
  more += std::max(
      0.0, seconds_of(device, hbm_time(device, t.inputs)) - seconds_of(device, rounds.makespan));
  return finished(rounds, more, share, flop_of(s) / 2 / peak_rate(device, s.element), device);
}

device::Scratchpad vector_room(const Selection& s, const device::Spec& device) {
  Attention like;
  like.element = s.element;
  return vector_buffers(like, 1, vector_numbers, device);
}

std::int64_t cube_cores(const device::Spec& device) {
  return static_cast<std::int64_t>(device.cores.cube.value);
}

/// The numbers of tiles: of_block, for one block on one core; of_core, in total on the busiest
/// core. active: the number of active cores.
struct Deals {
  std::int64_t of_block, of_core, active;
};

Deals deals_of(const Selection& s, const ByBlock& by, const device::Spec& device) {
  std::int64_t tiles = 0, items = 0, most = 1;
  for (const auto& [listed, blocks] : s.demand) {
    const std::int64_t of_part = ceil_divide(ceil_divide(listed, by.parts), by.tokens);
    if (of_part == 0) continue;
    tiles += blocks * by.parts * of_part, items += blocks * by.parts;
    most = std::max(most, of_part);
  }
  const std::int64_t cores = cube_cores(device);
  const std::int64_t of_core =
      std::max(ceil_divide(items, cores) * most, ceil_divide(tiles, cores));
  return {most, of_core, std::clamp<std::int64_t>(items, 1, cores)};
}

/// Returns the selection with each block split into `cuts` smaller blocks. Every list then has
/// `cuts` times as many entries.
Selection cut(Selection s, std::int64_t cuts) {
  s.block /= cuts, s.count *= cuts;
  for (auto& [listed, blocks] : s.demand) blocks *= cuts;
  return s;
}

}  // namespace

std::int64_t Selection::listings() const {
  std::int64_t all = 0;
  for (const auto& [listed, blocks] : demand) all += listed * blocks;
  return all;
}

std::string ByToken::to_text() const {
  return "token by token, " + std::to_string(chunk) + " blocks at a time, " +
         std::to_string(vector_cores) +
         " vector cores per cube core; dk and dv of each block are added in global memory";
}

std::string ByBlock::to_text() const {
  return "block by block, tiles of " + std::to_string(tokens) +
         " tokens, the tokens of a block in " + std::to_string(parts) + " parts" +
         (cuts > 1 ? " and its keys in " + std::to_string(cuts) : "") + ", scores " +
         std::to_string(ahead) +
         " tiles ahead; dk and dv stay in L0C, dq is added in global memory";
}

std::vector<Buffer> buffers_of(const Selection& s, const ByToken& by, const device::Spec& device) {
  const auto& m = device.memories;
  const std::int64_t rows = round_up(s.group, fractal), columns = by.chunk * s.block;
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate(2 * rows * channels(s) * s.element, "query and dy of two tokens");
  l1.allocate(2 * columns * s.head_dim * s.element, "keys of two chunks");
  l1.allocate(2 * s.block * s.head_dim_v * s.element, "values of two blocks");
  l1.allocate(4 * rows * columns * s.element, "P and dS of two chunks");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  l0c.allocate({2 * rows * columns * fp32_bytes}, "scores and dP");
  l0c.allocate({rows * s.head_dim * fp32_bytes}, "dq of a token");
  l0c.allocate({s.block * std::max(s.head_dim, s.head_dim_v) * fp32_bytes}, "dk or dv of a block");
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  l2.allocate({cube_cores(device) * 2 * s.group * columns * 2 * fp32_bytes}, "scores and dP");
  return listed({l1, l0c, vector_room(s, device), l2});
}

std::vector<Buffer> buffers_of(const Selection& whole, const ByBlock& by,
                               const device::Spec& device) {
  const Selection s = cut(whole, by.cuts);
  const auto& m = device.memories;
  const std::int64_t rows = rows_of(s, by), sums = narrow_sums(s, rows, device);
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate((by.ahead + 2) * rows * channels(s) * s.element,
              "query and dy of the tiles in progress");
  l1.allocate(2 * s.block * channels(s) * s.element, "key and value of two blocks");
  l1.allocate(4 * rows * s.block * s.element, "P and dS of two tiles");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  l0c.allocate({s.block * s.head_dim * fp32_bytes}, "dk of a block");
  l0c.allocate({s.block * s.head_dim_v * fp32_bytes}, "dv of a block");
  const Bytes tile = {rows * std::max(s.block, slice) * fp32_bytes};
  l0c.allocate(std::max<std::int64_t>(sums, 1) * tile, "scores, dP and slices of dq");
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  const std::int64_t tiles = cube_cores(device) * (by.ahead + 2) * rows * s.block;
  l2.allocate({tiles * 2 * fp32_bytes}, "scores and dP");
  l2.allocate(2 * tiles * s.element, "P and dS");
  return listed({l1, l0c, vector_room(s, device), l2});
}

device::Program program_of(const Selection& s, const ByToken& by, const device::Spec& device,
                           std::int64_t count) {
  device::Instructions code(device);
  TokenWriting(s, by, code).write(count);
  return code.program();
}

device::Program program_of(const Selection& whole, const ByBlock& by, const device::Spec& device,
                           std::int64_t count) {
  const Selection s = cut(whole, by.cuts);
  device::Instructions code(device);
  BlockWriting(s, by, deals_of(s, by, device).of_block, code).write(count);
  return code.program();
}

Modelled model(const Selection& s, const ByToken& by, const device::Spec& device) {
  buffers_of(s, by, device);
  const std::int64_t items = s.queries * s.heads_kv, cores = cube_cores(device);
  const device::Share share = share_of(device, std::min(items, cores));
  const Rounds rounds = run_rounds(device, share, static_cast<double>(ceil_divide(items, cores)), 8,
                                   [&](device::Instructions& code, std::int64_t count) {
                                     TokenWriting(s, by, code).write(count);
                                   });
  const Tensors t = tensors_of(s);
  return with_passes(s, rounds, t.dq + t.dkv, /*inverted=*/false, share, device);
}

Modelled model(const Selection& whole, const ByBlock& by, const device::Spec& device) {
  const Selection s = cut(whole, by.cuts);
  buffers_of(whole, by, device);
  const Deals deals = deals_of(s, by, device);
  const device::Share share = share_of(device, deals.active);
  const std::int64_t of_block = std::min<std::int64_t>(deals.of_block, 16);
  const std::int64_t most = 2 * of_block * std::max<std::int64_t>(1, 8 / of_block);
  const Rounds rounds = run_rounds(device, share, static_cast<double>(deals.of_core), most,
                                   [&](device::Instructions& code, std::int64_t count) {
                                     BlockWriting(s, by, of_block, code).write(count);
                                   });
  const Tensors t = tensors_of(s);
  return with_passes(s, rounds, by.parts == 1 ? t.dq : t.dq + t.dkv, /*inverted=*/true, share,
                     device);
}

double flop_of(const Selection& s) {
  const bool forward = s.direction == Direction::forward;
  return 2.0 * static_cast<double>(s.listings() * s.group * s.block) *
         static_cast<double>(forward ? s.head_dim + s.head_dim_v
                                     : 3 * s.head_dim + 2 * s.head_dim_v);
}

Compulsory compulsory_bytes(const Selection& s) {
  const Tensors t = tensors_of(s);
  if (s.direction == Direction::gradient) return {t.inputs + t.lists, t.outputs};
  const std::int64_t rows = s.queries * s.heads_kv * s.group;
  return {.read = (t.dq + t.dkv) * s.element + t.lists,
          .written = rows * (s.head_dim_v * s.element + statistics_of_row)};
}

}  // namespace assay::optimized::schedules
