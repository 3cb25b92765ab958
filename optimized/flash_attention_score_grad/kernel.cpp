#include "flash_attention_score_grad/kernel.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

#include "flash_attention_score_grad/exclusion.hpp"
#include "flash_attention_score_grad/rows.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using tile::Sum;

/// One key tile of one key head: the unit of work of a host thread.
struct KeyTile {
  std::int64_t b, kv, index;
};

/// One run. Key tiles are independent but for dq, to which they add in ascending order: for every
/// row tile a counter says which key tile may add next. Threads take key tiles in ascending order,
/// so that the lowest unfinished one never waits.
class Gradient {
 public:
  Gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
           const Execution& execution)
      : problem_(problem),
        outputs_(outputs),
        tiling_(execution.tiling),
        kernels_(execution.kernels),
        workspace_(execution.workspace),
        threads_(execution.threads),
        query_(rows(inputs.query, query_extents(problem))),
        key_(rows(inputs.key, key_extents(problem))),
        value_(rows(inputs.value, value_extents(problem))),
        dy_(rows(inputs.dy, dy_extents(problem))),
        attention_in_(rows(inputs.attention_in, dy_extents(problem))),
        dq_(rows(outputs.dq, query_extents(problem))),
        dk_(rows(outputs.dk, key_extents(problem))),
        dv_(rows(outputs.dv, value_extents(problem))),
        softmax_max_(inputs.softmax_max),
        softmax_sum_(inputs.softmax_sum),
        exclusion_(problem, inputs),
        stage_(storage_of(problem.dtype)),
        scale_(static_cast<float>(problem.scale_value)) {}

  void run();

 private:
  Rows rows(const spec::Tensor& tensor, const spec::Extents& extents) const {
    return {tensor, problem_.input_layout, extents, kernels_};
  }
  std::int64_t query_heads() const { return problem_.batch * problem_.heads_q; }
  std::int64_t row_tile_id(std::int64_t b, std::int64_t n, std::int64_t row_tile) const {
    return (b * problem_.heads_q + n) * tiling_.row_tiles + row_tile;
  }
  Tile dq_rows(std::int64_t b, std::int64_t n, std::int64_t first) const {
    const std::int64_t row = (b * problem_.heads_q + n) * problem_.seq_q + first;
    return {.at = dq_sums_ + row * padded(problem_.head_dim), .stride = padded(problem_.head_dim)};
  }

  void prepare(ThreadTiles& tiles) const;
  void work(ThreadTiles& tiles);
  void row_terms(std::int64_t head_tile, const ThreadTiles& tiles);
  void process(const KeyTile& key_tile, ThreadTiles& tiles);
  void load_keys(const KeyTile& key_tile, const ThreadTiles& tiles) const;
  void process_head(const KeyTile& key_tile, std::int64_t n, ThreadTiles& tiles, bool& any);
  void process_block(const KeyTile& key_tile, std::int64_t n, std::int64_t row_tile,
                     ThreadTiles& tiles, Sum record);
  void scores(const Block& block, ThreadTiles& tiles) const;
  void add_dq(const KeyTile& key_tile, const Block& block, std::int64_t row_tile,
              const ThreadTiles& tiles);
  void add_record(const KeyTile& key_tile, const ThreadTiles& tiles, Sum sum) const;
  void finish_keys(const KeyTile& key_tile, const ThreadTiles& tiles, bool any);

  const Op::Problem& problem_;
  Op::Outputs& outputs_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  Workspace& workspace_;
  std::int64_t threads_;
  Rows query_, key_, value_, dy_, attention_in_, dq_, dk_, dv_;
  const spec::Tensor &softmax_max_, &softmax_sum_;
  Exclusion exclusion_;
  tile::Storage stage_;
  float scale_;

  float *dq_sums_ = nullptr, *row_terms_ = nullptr;
  std::unique_ptr<std::atomic<std::int64_t>[]>
      next_key_tile_;  ///< per row tile of every query head
  std::atomic<std::int64_t> taken_row_terms_ = 0, taken_key_tiles_ = 0;
};

/// Hands out consecutive floats of one reservation.
class Carver {
 public:
  Tile tile(std::int64_t rows, std::int64_t columns) {
    const Tile result = {.at = at(used_), .stride = padded(columns)};
    used_ += rows * padded(columns);
    return result;
  }
  float* line(std::int64_t count) { return tile(1, count).at; }
  void start(float* base) { base_ = base, used_ = 0; }
  std::int64_t used() const { return used_; }

 private:
  float* at(std::int64_t offset) const { return base_ == nullptr ? nullptr : base_ + offset; }
  float* base_ = nullptr;
  std::int64_t used_ = 0;
};

void carve(ThreadTiles& t, Carver& carver, const Tiling& tiling, const Op::Problem& p) {
  const std::int64_t rows = tiling.rows, columns = tiling.columns;
  const std::int64_t d = p.head_dim, dv = p.head_dim_v;
  t.key = carver.tile(columns, d), t.value = carver.tile(columns, dv);
  t.key_transposed = carver.tile(d, columns), t.value_transposed = carver.tile(dv, columns);
  t.query = carver.tile(rows, d), t.dy = carver.tile(rows, dv);
  t.scores = carver.tile(rows, columns), t.dprob = carver.tile(rows, columns);
  t.dk = carver.tile(columns, d), t.dk_record = carver.tile(columns, d);
  t.dv = carver.tile(columns, dv), t.dv_record = carver.tile(columns, dv);
  t.max = carver.line(rows), t.sum = carver.line(rows), t.row_term = carver.line(rows);
}

void transpose(const Tile& from, std::int64_t rows, std::int64_t columns, const Tile& to) {
  constexpr std::int64_t edge = tile::lanes;
  for (std::int64_t i0 = 0; i0 < rows; i0 += edge)
    for (std::int64_t d = 0; d < columns; ++d)
      for (std::int64_t i = i0; i < std::min(i0 + edge, rows); ++i) to.row(d)[i] = from.row(i)[d];
}

void Gradient::prepare(ThreadTiles& tiles) const {
  Carver carver;
  carve(tiles, carver, tiling_, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, problem_);
  tiles.excluded.resize(static_cast<std::size_t>(tiling_.rows * tiles.scores.stride));
}

void Gradient::run() {
  dq_sums_ = workspace_.dq.reserve(query_heads() * problem_.seq_q * padded(problem_.head_dim));
  row_terms_ = workspace_.row_terms.reserve(query_heads() * problem_.seq_q);
  const auto row_tiles = static_cast<std::size_t>(query_heads() * tiling_.row_tiles);
  next_key_tile_ = std::make_unique<std::atomic<std::int64_t>[]>(row_tiles);
  for (std::size_t id = 0; id < row_tiles; ++id)
    next_key_tile_[id] = tiling_.keys_of(static_cast<std::int64_t>(id) % tiling_.row_tiles).first;
  const auto count = static_cast<std::size_t>(threads_);
  if (workspace_.threads.size() < count) workspace_.threads.resize(count);
  for (std::size_t t = 0; t < count; ++t) prepare(workspace_.threads[t]);

  std::barrier row_terms_done(threads_);
  const auto body = [&](std::size_t t) {
    ThreadTiles& tiles = workspace_.threads[t];
    const std::int64_t head_tiles = query_heads() * tiling_.row_tiles;
    for (std::int64_t k; (k = taken_row_terms_++) < head_tiles;) row_terms(k, tiles);
    row_terms_done.arrive_and_wait();
    work(tiles);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < count; ++t) others.emplace_back(body, t);
  body(0);
}

/// R(i) = sum over c of dy(i, c) * attention_in(i, c), once per row.
void Gradient::row_terms(std::int64_t head_tile, const ThreadTiles& tiles) {
  const std::int64_t head = head_tile / tiling_.row_tiles, tile = head_tile % tiling_.row_tiles;
  const RowSpan span = {.b = head / problem_.heads_q,
                        .n = head % problem_.heads_q,
                        .first = tile * tiling_.rows,
                        .count = tiling_.rows_of(tile)};
  const Tile attention = {.at = tiles.query.at, .stride = tiles.query.stride};
  dy_.read(span, tiles.dy);
  attention_in_.read(span, attention);
  for (std::int64_t i = 0; i < span.count; ++i)
    row_terms_[head * problem_.seq_q + span.first + i] =
        kernels_.dot(tiles.dy.row(i), attention.row(i), problem_.head_dim_v);
}

void Gradient::work(ThreadTiles& tiles) {
  const std::int64_t count = problem_.batch * problem_.heads_kv * tiling_.key_tiles;
  for (std::int64_t k; (k = taken_key_tiles_++) < count;) {
    const std::int64_t head = k / tiling_.key_tiles;
    process({.b = head / problem_.heads_kv,
             .kv = head % problem_.heads_kv,
             .index = k % tiling_.key_tiles},
            tiles);
  }
}

void Gradient::process(const KeyTile& key_tile, ThreadTiles& tiles) {
  load_keys(key_tile, tiles);
  bool any = false;
  for (std::int64_t g = 0; g < problem_.group(); ++g)
    process_head(key_tile, key_tile.kv * problem_.group() + g, tiles, any);
  finish_keys(key_tile, tiles, any);
}

void Gradient::load_keys(const KeyTile& key_tile, const ThreadTiles& tiles) const {
  const std::int64_t count = tiling_.columns_of(key_tile.index);
  const RowSpan span = {
      .b = key_tile.b, .n = key_tile.kv, .first = key_tile.index * tiling_.columns, .count = count};
  key_.read(span, tiles.key);
  value_.read(span, tiles.value);
  transpose(tiles.key, count, problem_.head_dim, tiles.key_transposed);
  transpose(tiles.value, count, problem_.head_dim_v, tiles.value_transposed);
}

/// The blocks of one query head under a key tile, record by record.
void Gradient::process_head(const KeyTile& key_tile, std::int64_t n, ThreadTiles& tiles,
                            bool& any) {
  for (std::int64_t first = 0; first < tiling_.row_tiles; first += tiling_.record_tiles) {
    Sum record = Sum::start;
    const std::int64_t last = std::min(first + tiling_.record_tiles, tiling_.row_tiles);
    for (std::int64_t r = first; r < last; ++r) {
      const TileRange keys = tiling_.keys_of(r);
      if (keys.holds(key_tile.index)) {
        process_block(key_tile, n, r, tiles, record);
        record = Sum::extend;
      } else if (keys.empty() && key_tile.index == 0) {
        const Tile zeros = dq_rows(key_tile.b, n, r * tiling_.rows);
        std::fill_n(zeros.at, tiling_.rows_of(r) * zeros.stride, 0.0F);
        dq_.write({key_tile.b, n, r * tiling_.rows, tiling_.rows_of(r)}, zeros, scale_,
                  outputs_.dq);
      }
    }
    if (record == Sum::start) continue;
    add_record(key_tile, tiles, any ? Sum::add : Sum::start);
    any = true;
  }
}

void Gradient::process_block(const KeyTile& key_tile, std::int64_t n, std::int64_t row_tile,
                             ThreadTiles& tiles, Sum record) {
  const Block block = {.b = key_tile.b,
                       .n = n,
                       .first_row = row_tile * tiling_.rows,
                       .rows = tiling_.rows_of(row_tile),
                       .first_column = key_tile.index * tiling_.columns,
                       .columns = tiling_.columns_of(key_tile.index)};
  scores(block, tiles);
  const auto gradient = [&](const Tile& left, const Tile& right, const Tile& sums,
                            std::int64_t columns) {
    kernels_.multiply({.a = left.at,
                       .a_row = 1,
                       .a_depth = left.stride,
                       .b = right.at,
                       .b_row = right.stride,
                       .c = sums.at,
                       .c_row = sums.stride,
                       .rows = block.columns,
                       .columns = columns,
                       .depth = block.rows,
                       .sum = record});
  };
  gradient(tiles.scores, tiles.dy, tiles.dv_record, problem_.head_dim_v);
  gradient(tiles.dprob, tiles.query, tiles.dk_record, problem_.head_dim);
  add_dq(key_tile, block, row_tile, tiles);
}

/// P and dS of a block, staged.
void Gradient::scores(const Block& block, ThreadTiles& t) const {
  const RowSpan span = {.b = block.b, .n = block.n, .first = block.first_row, .count = block.rows};
  query_.read(span, t.query);
  dy_.read(span, t.dy);
  const auto product = [&](const Tile& left, const Tile& right, const Tile& result,
                           std::int64_t depth) {
    kernels_.multiply({.a = left.at,
                       .a_row = left.stride,
                       .a_depth = 1,
                       .b = right.at,
                       .b_row = right.stride,
                       .c = result.at,
                       .c_row = result.stride,
                       .rows = block.rows,
                       .columns = block.columns,
                       .depth = depth});
  };
  product(t.query, t.key_transposed, t.scores, problem_.head_dim);
  product(t.dy, t.value_transposed, t.dprob, problem_.head_dim_v);

  const std::int64_t head = block.b * problem_.heads_q + block.n;
  std::copy_n(row_terms_ + head * problem_.seq_q + block.first_row, block.rows, t.row_term);
  const auto statistic = [&](const spec::Tensor& from, float* to) {
    const spec::Shape& s = from.strides;
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t element =
          from.offset + block.b * s[0] + block.n * s[1] + (block.first_row + i) * s[2];
      std::memcpy(to + i, from.bytes.data() + element * 4, 4);
    }
  };
  statistic(softmax_max_, t.max);
  statistic(softmax_sum_, t.sum);
  if (exclusion_.present()) exclusion_.read(block, t.scores.stride, t.excluded.data());
  kernels_.softmax_grad({.scores = t.scores.at,
                         .dprob = t.dprob.at,
                         .row_stride = t.scores.stride,
                         .rows = block.rows,
                         .columns = block.columns,
                         .max = t.max,
                         .sum = t.sum,
                         .row_term = t.row_term,
                         .excluded = exclusion_.present() ? t.excluded.data() : nullptr,
                         .scale = scale_,
                         .stage = stage_});
}

/// Waits for the turn of this key tile; the last one scales and stores the rows.
void Gradient::add_dq(const KeyTile& key_tile, const Block& block, std::int64_t row_tile,
                      const ThreadTiles& tiles) {
  auto& next = next_key_tile_[static_cast<std::size_t>(row_tile_id(block.b, block.n, row_tile))];
  for (std::int64_t seen; (seen = next.load(std::memory_order_acquire)) != key_tile.index;)
    next.wait(seen, std::memory_order_acquire);
  const TileRange keys = tiling_.keys_of(row_tile);
  const Tile sums = dq_rows(block.b, block.n, block.first_row);
  kernels_.multiply({.a = tiles.dprob.at,
                     .a_row = tiles.dprob.stride,
                     .a_depth = 1,
                     .b = tiles.key.at,
                     .b_row = tiles.key.stride,
                     .c = sums.at,
                     .c_row = sums.stride,
                     .rows = block.rows,
                     .columns = problem_.head_dim,
                     .depth = block.columns,
                     .sum = key_tile.index == keys.first ? Sum::start : Sum::add});
  if (key_tile.index == keys.last - 1) {
    dq_.write({block.b, block.n, block.first_row, block.rows}, sums, scale_, outputs_.dq);
    return;
  }
  next.store(key_tile.index + 1, std::memory_order_release);
  next.notify_all();
}

void Gradient::add_record(const KeyTile& key_tile, const ThreadTiles& tiles, Sum sum) const {
  const std::int64_t rows = tiling_.columns_of(key_tile.index);
  const auto into = [&](const Tile& record, const Tile& total) {
    if (sum == Sum::start)
      std::copy_n(record.at, rows * record.stride, total.at);
    else
      kernels_.add(record.at, rows * record.stride, total.at);
  };
  into(tiles.dk_record, tiles.dk);
  into(tiles.dv_record, tiles.dv);
}

void Gradient::finish_keys(const KeyTile& key_tile, const ThreadTiles& tiles, bool any) {
  const std::int64_t rows = tiling_.columns_of(key_tile.index);
  if (!any) {
    std::fill_n(tiles.dk.at, rows * tiles.dk.stride, 0.0F);
    std::fill_n(tiles.dv.at, rows * tiles.dv.stride, 0.0F);
  }
  const RowSpan span = {
      .b = key_tile.b, .n = key_tile.kv, .first = key_tile.index * tiling_.columns, .count = rows};
  dk_.write(span, tiles.dk, scale_, outputs_.dk);
  dv_.write(span, tiles.dv, 1.0F, outputs_.dv);
}

}  // namespace

void compute_gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
                      const Execution& execution) {
  Gradient(problem, inputs, outputs, execution).run();
}

void fill_with_zeros(spec::Tensor& tensor) {
  const std::int64_t size = spec::size_of(tensor.dtype);
  for (const std::int64_t element : spec::viewed_elements(tensor))
    std::fill_n(tensor.bytes.data() + element * size, size, std::byte{0});
}

}  // namespace assay::optimized
