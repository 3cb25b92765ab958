#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

#include <algorithm>
#include <sstream>

#include "assay/device/core.hpp"
#include "flash_attention_score_grad/window.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::round_up;
using Problem = spec::FlashAttentionScoreGrad::Problem;

constexpr std::int64_t fractal = 16;
constexpr std::int64_t largest_edge =
    128;                                  // of a block: one Mmad of 128 x 128 x 128 hides its loads
constexpr std::int64_t record_tiles = 4;  // as many block rows as the vendor's basic template
constexpr std::int64_t fp32_bytes = 4;

std::int64_t block_edge(const device::Spec& device) {
  std::int64_t edge = largest_edge;
  while (edge > fractal && 2 * edge * edge * fp32_bytes > bytes_of(device.memories.l0c).count)
    edge -= fractal;
  return edge;
}

/// The largest multiple of a fractal's edge of which a tile with rows of `row_bytes` fits into one
/// of `parts` of a buffer, at most `most`.
std::int64_t depth(const device::Quantity& buffer, std::int64_t parts, std::int64_t row_bytes,
                   std::int64_t most) {
  const std::int64_t fitting = bytes_of(buffer).count / parts / row_bytes / fractal * fractal;
  return std::clamp(fitting, fractal, most);
}

void cut_sequences(const Problem& p, Tiling& tiling) {
  const bool alike = p.lengths_q.empty() && p.lengths_kv.empty() && p.sparse_mode < 6;
  for (std::int64_t b = 0; b < (alike ? 1 : p.batch); ++b)
    tiling.sequences.push_back({.seq_q = p.length_q(b),
                                .seq_kv = p.length_kv(b),
                                .rows = tiling.rows,
                                .columns = tiling.columns,
                                .row_tiles = ceil_divide(p.length_q(b), tiling.rows),
                                .key_tiles = ceil_divide(p.length_kv(b), tiling.columns),
                                .window = window_of(p, b)});
}

class Planner {
 public:
  Planner(const Problem& problem, const device::Spec& device, Tiling& tiling)
      : problem_(problem),
        tiling_(tiling),
        element_(spec::size_of(problem.dtype)),
        masked_(problem.atten_mask != spec::MaskShape::absent),
        device_(device) {}

  void place_matrices() {
    device::CubeCore core(device_);
    device::Scratchpad &l1 = core.l1, &l0a = core.l0a, &l0b = core.l0b, &l0c = core.l0c;
    const std::int64_t edge = std::max(tiling_.rows, tiling_.columns);
    for (const char* half : {"ping", "pong"}) {
      l1.allocate({edge * tiling_.l1_depth * element_}, std::string("left operand ") + half);
      l1.allocate({edge * tiling_.l1_depth * element_}, std::string("right operand ") + half);
      l0a.allocate({edge * tiling_.l0_depth * element_}, std::string("left fractals ") + half);
      l0b.allocate({edge * tiling_.l0_depth * element_}, std::string("right fractals ") + half);
      l0c.allocate({edge * tiling_.slice * fp32_bytes}, std::string("accumulators ") + half);
    }
    tiling_.keys_stay = l1.used().count + key_bytes() + value_bytes() + key_rope_bytes() <= l1.capacity().count;
    if (tiling_.keys_stay) {
      l1.allocate({key_bytes()}, "key");
      l1.allocate({value_bytes()}, "value");
      if (problem_.head_dim_rope > 0) l1.allocate({key_rope_bytes()}, "key rope");
    }
    tiling_.l1 = record(l1), tiling_.l0a = record(l0a);
    tiling_.l0b = record(l0b), tiling_.l0c = record(l0c);
  }

  void place_vectors() {
    device::VectorCore core(device_);
    device::Scratchpad& ub = core.ub;
    // The most rows that fit; if not even the fewest do, the fault names the tile that does not.
    for (std::int64_t rows = tiling_.rows / 2; rows > fractal / 2; rows /= 2)
      if (vector_bytes(rows) <= ub.capacity().count) {
        tiling_.vector_rows = rows;
        break;
      }
    for (const auto& [what, size] : vector_tiles(tiling_.vector_rows)) ub.allocate(size, what);
    tiling_.ub = record(ub);
  }

 private:
  struct Piece {
    std::string what;
    Bytes size;
  };

  std::vector<Piece> vector_tiles(std::int64_t rows) const {
    const std::int64_t elements = rows * tiling_.columns;
    std::vector<Piece> tiles;
    for (const char* half : {" ping", " pong"}) {
      const auto tile = [&](const char* what, std::int64_t size) {
        tiles.push_back({std::string(what) + half, {size}});
      };
      tile("scores", elements * fp32_bytes);
      tile("dprob", elements * fp32_bytes);
      if (element_ != fp32_bytes) {
        tile("cast prob", elements * element_);
        tile("cast dscore", elements * element_);
      }
      if (masked_) tile("mask", elements);
      if (problem_.pse_shift != spec::PseShape::absent) {
        tile("bias", elements * fp32_bytes);
        if (pse_dtype(problem_) != spec::DType::fp32) tile("stored bias", elements * element_);
      }
      if (problem_.has_dropout()) {
        tile("drop bits", ceil_divide(elements, 8));
        tile("dropped prob", elements * fp32_bytes);
      }
      tile("statistics", 3 * rows * spec::statistics_replicas * fp32_bytes);
    }
    return tiles;
  }

  std::int64_t vector_bytes(std::int64_t rows) const {
    std::int64_t total = 0;
    for (const auto& tile : vector_tiles(rows))
      total += round_up(tile.size.count, bytes_of(device_.memories.ub_alignment).count);
    return total;
  }

  Bytes record(const device::Scratchpad& pad) {
    for (const auto& tile : pad.tiles())
      tiling_.buffers.push_back({pad.name(), tile.what, tile.offset, tile.size});
    return pad.high_water();
  }

  std::int64_t operand_bytes(std::int64_t dim) const {
    return tiling_.columns * round_up(dim, fractal) * element_;
  }
  std::int64_t key_bytes() const { return operand_bytes(problem_.head_dim); }
  std::int64_t value_bytes() const { return operand_bytes(problem_.head_dim_v); }
  std::int64_t key_rope_bytes() const { return operand_bytes(problem_.head_dim_rope); }

  const Problem& problem_;
  Tiling& tiling_;
  std::int64_t element_;
  bool masked_;
  const device::Spec& device_;
};

}  // namespace

TileRange SequenceTiles::keys_of(std::int64_t row_tile) const {
  const std::int64_t first_row = row_tile * rows;
  const std::int64_t last_row = first_row + rows_of(row_tile) - 1;
  const std::int64_t from = std::max<std::int64_t>(0, first_row - window.before);
  const std::int64_t to = std::min(seq_kv, std::max(window.prefix, last_row + window.after + 1));
  if (from >= to) return {};
  return {.first = from / columns, .last = ceil_divide(to, columns)};
}

std::int64_t SequenceTiles::rows_of(std::int64_t row_tile) const {
  return std::min(rows, seq_q - row_tile * rows);
}

std::int64_t SequenceTiles::columns_of(std::int64_t key_tile) const {
  return std::min(columns, seq_kv - key_tile * columns);
}

std::int64_t SequenceTiles::blocks() const {
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < row_tiles; ++r) count += keys_of(r).last - keys_of(r).first;
  return count;
}

std::int64_t Tiling::key_tiles() const {
  std::int64_t count = 0;
  for (const SequenceTiles& s : sequences) count += s.key_tiles;
  return repeats() * count;
}

std::int64_t Tiling::blocks() const {
  std::int64_t count = 0;
  for (const SequenceTiles& s : sequences) count += s.blocks();
  return repeats() * count;
}

Tiling plan(const Problem& p, const device::Spec& device) {
  const std::int64_t element = spec::size_of(p.dtype);
  const std::int64_t edge = block_edge(device);
  const std::int64_t channels =
      round_up(std::max({p.head_dim, p.head_dim_v, p.head_dim_rope}), fractal);
  Tiling tiling{.batch = p.batch,
                .rows = std::min(edge, round_up(p.seq_q, fractal)),
                .columns = std::min(edge, round_up(p.seq_kv, fractal)),
                .record_tiles = record_tiles,
                .vector_rows = fractal / 2,
                .sequences = {},
                .buffers = {}};
  cut_sequences(p, tiling);
  const std::int64_t inner = std::max({channels, tiling.rows, tiling.columns});
  tiling.l1_depth = depth(device.memories.l1, 4, edge * element, inner);
  tiling.l0_depth =
      std::min({depth(device.memories.l0a, 2, edge * element, inner),
                depth(device.memories.l0b, 2, edge * element, inner), tiling.l1_depth});
  tiling.slice = std::min(edge, std::max(channels, tiling.columns));
  Planner planner(p, device, tiling);
  planner.place_matrices();
  planner.place_vectors();
  return tiling;
}

std::string to_text(const Tiling& t) {
  std::ostringstream text;
  text << "block " << t.rows << " x " << t.columns << " of ";
  if (t.sequences.size() == 1)
    text << t.sequences[0].row_tiles << " x " << t.sequences[0].key_tiles << " per head, "
         << t.sequences[0].blocks() << " computed\n";
  else
    text << t.batch << " sequences, " << t.blocks() << " computed per head\n";
  text << "record " << t.record_tiles << " row tiles, L1 depth " << t.l1_depth << ", L0 depth "
       << t.l0_depth << ", slice " << t.slice << ", vector rows " << t.vector_rows
       << (t.keys_stay ? ", keys stay in L1\n" : ", keys are loaded for every product\n");
  for (const auto& buffer : t.buffers)
    text << buffer.memory << ' ' << buffer.what << ": " << buffer.size.count << " B at "
         << buffer.offset.count << '\n';
  text << "peak: L1 " << t.l1.count << " B, L0A " << t.l0a.count << " B, L0B " << t.l0b.count
       << " B, L0C " << t.l0c.count << " B, UB " << t.ub.count << " B\n";
  return text.str();
}

}  // namespace assay::optimized
