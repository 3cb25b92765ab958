#include "sparse_flash_attention_grad/schedule.hpp"

#include <algorithm>
#include <optional>

#include "assay/device/scratchpad.hpp"
#include "schedules/cube_unit.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/report.hpp"
#include "schedules/vector_unit.hpp"
#include "sparse_flash_attention_grad/lists.hpp"

namespace assay::optimized {

namespace sparse_flash {

Gathering gathering_of(const spec::SparseFlashProblem& p) {
  std::int64_t tokens = 0, pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t token = 0; token < p.length_q(b); ++token)
      if (const std::int64_t keys =
              std::min(p.sparse_block_size * p.sparse_block_count, visible_keys(p, b, token));
          keys > 0)
        ++tokens, pairs += keys;
  constexpr std::int64_t dim = spec::SparseFlashProblem::head_dim;
  return {.heads = p.heads_q,
          .tokens = std::max<std::int64_t>(tokens, 1),
          .listed = std::max<std::int64_t>(
              device::ceil_divide(pairs, std::max<std::int64_t>(tokens, 1)), 1),
          .queries = sparse_indices_extents(p).rows(),
          .keys = key_extents(p).rows(),
          .width = dim + p.head_dim_rope,
          .values = p.is_merged() ? 0 : dim,
          .element = {spec::size_of(p.dtype)}};
}

}  // namespace sparse_flash

namespace schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Drain;
using device::Pipe;
using device::round_up;
using device::TaskId;
using sparse_flash::Gathering;

constexpr std::int64_t dim = spec::SparseFlashProblem::head_dim;
constexpr std::int64_t fractal = 16, fp32_bytes = 4, slice = 128, vector_numbers = 8192;
constexpr std::int64_t gathered_bytes = 16 * 1024, vector_cores = 2, index_bytes = 4;

std::size_t count(std::int64_t number) { return static_cast<std::size_t>(number); }

struct ByToken {
  std::int64_t keys = 64;   ///< of a tile
  std::int64_t tokens = 1;  ///< whose query and d_out fit in L1 at the same time

  std::string to_text() const {
    return "token by token, " + std::to_string(keys) +
           " listed keys at a time, query and d_out of " + std::to_string(tokens) +
           (tokens == 1 ? " token" : " tokens") +
           " in L1; d_key and d_value of each tile are added in global memory";
  }
};

/// Writes the instructions of one core, which processes one token after the other.
class Writing {
 public:
  Writing(const Gathering& of, const ByToken& by, device::Instructions& code)
      : of_(of),
        by_(by),
        code_(code),
        cube_(code, of.element, 2),
        vector_(code, 1, vector_numbers, of.element),
        tokens_(count(by.tokens)) {}

  void write(std::int64_t tokens) {
    for (std::int64_t token = 0; token < tokens; ++token) {
      if (by_.tokens == 1) finish();
      const TaskId query = code_.load(
          {.rows = 1, .row = of_.heads * (of_.width + dim) * of_.element}, {tokens_.take()});
      for (std::int64_t first = 0; first < of_.listed; first += by_.keys) {
        const std::int64_t keys = std::min(by_.keys, of_.listed - first);
        Tile tile = scores(query, keys, gather(keys));
        tile.starts = first == 0, tile.ends = first + keys == of_.listed;
        finish();
        before_ = tile;
      }
    }
    finish();
  }

 private:
  struct Tile {
    TaskId query, keys, staged;
    std::int64_t count;
    bool starts = false, ends = false;
  };

  /// Computes the gradients of the previous tile. Its scores are already computed.
  void finish() {
    if (before_) gradients(*before_);
    before_.reset();
  }
  std::int64_t rows() const { return round_up(of_.heads, fractal); }
  Bytes row_of_key() const { return (of_.width + of_.values) * of_.element; }

  /// Copies the rows of the listed keys to adjacent rows in global memory.
  TaskId gather(std::int64_t keys) {
    std::int64_t left = ceil_divide(keys, vector_cores) * row_of_key().count;
    TaskId stored = device::none;
    for (; left > 0; left -= gathered_bytes) {
      const Bytes size = {std::min(left, gathered_bytes)};
      stored = code_.vector_store(size, {code_.vector_load(size, {copies_.take()})});
      copies_.give(stored);
    }
    return code_.add_handover(Pipe::mte3, {stored});
  }

  Tile scores(TaskId query, std::int64_t keys, TaskId gathered) {
    const TaskId loaded = code_.load({.rows = keys, .row = row_of_key(), .contiguous = true},
                                     {keys_.take(), gathered});
    const Bytes stored = {of_.heads * keys * fp32_bytes};
    TaskId drained = device::none;
    for (const std::int64_t depth : {of_.width, dim}) {
      Accumulator sum = cube_.open();
      cube_.multiply(sum, {rows(), keys, depth}, query, loaded);
      drained = cube_.drain(sum, stored, Drain::store);
    }
    const TaskId made =
        vector_.gradient(ceil_divide(of_.heads * keys, vector_cores),
                         code_.add_handover(Pipe::fixpipe, {drained}), VectorUnit::Places{});
    return {query, loaded, code_.add_handover(Pipe::mte3, {made}), keys};
  }

  void gradients(const Tile& tile) {
    const Bytes exchanged = of_.heads * tile.count * of_.element;
    const TaskId dscore = code_.load({.rows = 1, .row = exchanged}, {staged_.take(), tile.staged});
    const TaskId prob = code_.load({.rows = 1, .row = exchanged}, {staged_.take(), tile.staged});
    const TaskId of_keys = product({rows(), of_.width, tile.count}, dscore, tile.keys,
                                   tile.starts ? Drain::store : Drain::atomic_add);
    const TaskId of_query =
        product({tile.count, of_.width, rows()}, dscore, tile.query, Drain::atomic_add);
    const TaskId of_d_out = product({tile.count, dim, rows()}, prob, tile.query, Drain::atomic_add);
    keys_.give(of_keys), staged_.give(of_query), staged_.give(of_d_out);
    if (tile.ends) tokens_.give(of_d_out);
  }

  /// Computes a matrix product with many columns, slice by slice. Returns the last instruction that
  /// reads L1.
  TaskId product(const Extents& of, TaskId left, TaskId right, Drain drain) {
    TaskId read = device::none;
    for (std::int64_t at = 0; at < of.n; at += slice) {
      const std::int64_t width = std::min(slice, of.n - at);
      Accumulator sum = cube_.open();
      read = cube_.multiply(sum, {of.m, width, of.k}, left, right);
      cube_.drain(sum, {of.m * width * fp32_bytes}, drain);
    }
    return read;
  }

  const Gathering& of_;
  const ByToken& by_;
  device::Instructions& code_;
  CubeUnit cube_;
  VectorUnit vector_;
  device::Ring tokens_, keys_{2}, staged_{4}, copies_{2};
  std::optional<Tile> before_;
};

std::vector<Buffer> buffers_of(const Gathering& of, const ByToken& by, const device::Spec& device) {
  const auto& m = device.memories;
  const std::int64_t rows = round_up(of.heads, fractal), keys = round_up(by.keys, fractal);
  device::Scratchpad l1("L1", bytes_of(m.l1), bytes_of(m.l1_alignment));
  l1.allocate(by.tokens * rows * (of.width + dim) * of.element, "query and d_out");
  l1.allocate(2 * keys * (of.width + of.values) * of.element, "keys of two tiles");
  l1.allocate(4 * rows * keys * of.element, "P and dS of two tiles");
  device::Scratchpad l0c("L0C", bytes_of(m.l0c), bytes_of(m.l0c_alignment));
  const std::int64_t sums = std::max({rows * keys, rows * slice, keys * slice});
  l0c.allocate({2 * sums * fp32_bytes}, "scores, dP and slices of gradients");
  Attention like;
  like.element = of.element;
  device::Scratchpad ub = vector_buffers(like, 1, vector_numbers, device);
  ub.allocate({2 * gathered_bytes}, "listed rows");
  device::Scratchpad l2("L2", bytes_of(m.l2), {512});
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  l2.allocate(cores * 2 * keys * (of.width + of.values) * of.element, "gathered keys");
  l2.allocate({cores * 2 * of.heads * keys * 2 * fp32_bytes}, "scores and dP");
  return listed({l1, l0c, ub, l2});
}

Workload work_of(const Gathering& of, const device::Spec& device) {
  const double pairs = static_cast<double>(of.tokens * of.listed * of.heads);
  const std::int64_t of_queries = of.queries * of.heads, of_keys = of.width + of.values;
  const Bytes gradients = (of_queries * of.width + of.keys * of_keys) * of.element;
  return {.flop = 2 * pairs * static_cast<double>(3 * of.width + 2 * dim),
          .peak = 2 * peak_rate(device, of.element) * device.cores.cube.value *
                  device.cores.clock.value,
          .compulsory = {.read = gradients + 2 * of_queries * dim * of.element +
                                 Bytes{of.tokens * of.listed * index_bytes},
                         .written = gradients},
          .utilised = "cube"};
}

/// Returns the modelled time, including the launch and the passes over global memory. The passes
/// clear the sums of the keys, compute the row terms (sums of d_out * out), and store all sums as
/// outputs.
Modelled model(const Gathering& of, const ByToken& by, const device::Spec& device) {
  buffers_of(of, by, device);
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const device::Share share = share_of(device, std::min(of.tokens, cores));
  const Rounds rounds =
      run_rounds(device, share, static_cast<double>(ceil_divide(of.tokens, cores)), 4,
                 [&](device::Instructions& code, std::int64_t tokens) {
                   Writing(of, by, code).write(tokens);
                 });
  const std::int64_t rows = of.queries * of.heads, sums_of_keys = of.keys * (of.width + dim);
  const Bytes row_inputs = 2 * rows * dim * of.element;
  const Bytes outputs = (rows * of.width + of.keys * (of.width + of.values)) * of.element;
  double more = device.overheads.launch.value;
  more += pass_seconds(device, row_inputs, {(sums_of_keys + rows) * fp32_bytes}, row_inputs);
  more += pass_seconds(device, {(rows * of.width + sums_of_keys) * fp32_bytes}, outputs, outputs);
  const Bytes inputs =
      (rows * of.width + of.keys * (of.width + of.values)) * of.element + row_inputs;
  more += std::max(
      0.0, seconds_of(device, hbm_time(device, inputs)) - seconds_of(device, rounds.makespan));
  return finished(rounds, more, share, work_of(of, device).flop / 2 / peak_rate(device, of.element),
                  device);
}

std::vector<Candidate> candidates(const Gathering& of, const device::Spec& device,
                                  std::initializer_list<std::int64_t> tiles) {
  std::vector<Candidate> all;
  for (const std::int64_t keys : tiles)
    for (const std::int64_t tokens : {1, 2}) {
      const ByToken by{keys, tokens};
      try {
        const Modelled modelled = model(of, by, device);
        all.push_back({"by token", by.to_text(), modelled,
                       [of, by, &device] { return buffers_of(of, by, device); },
                       [of, by, &device, rounds = shown_rounds(modelled, 2)] {
                         device::Instructions code(device);
                         Writing(of, by, code).write(rounds);
                         return code.program();
                       }});
      } catch (const device::DeviceFault&) {
        continue;  // A buffer is too small: the next candidate may fit.
      }
    }
  std::ranges::stable_sort(all, {},
                           [](const Candidate& candidate) { return candidate.modelled.seconds; });
  return all;
}

std::vector<Candidate> candidates(const Gathering& of, const device::Spec& device) {
  return candidates(of, device, {16, 32, 48, 64, 96, 128});
}

}  // namespace

/// The tiles of the vendor's kernel have 128 keys.
std::string report(const Gathering& of, const device::Spec& device) {
  return report_of(work_of(of, device), candidates(of, device), candidates(of, device, {128}),
                   device);
}

std::string trace(const Gathering& of, const device::Spec& device) {
  const std::vector<Candidate> all = candidates(of, device);
  return all.empty() ? std::string() : trace_of(work_of(of, device), all.front(), device);
}

}  // namespace schedules
}  // namespace assay::optimized
