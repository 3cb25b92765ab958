#include "flash_attention_score_grad/kernel.hpp"

#include <algorithm>
#include <utility>

#include "assay/parallel/loop.hpp"
#include "attention/dropout.hpp"
#include "attention/exclusion.hpp"
#include "attention/head_tiles.hpp"
#include "attention/joined_rows.hpp"
#include "attention/scores.hpp"
#include "attention/statistics.hpp"
#include "flash_attention_score_grad/pairs/products.hpp"
#include "flash_attention_score_grad/sink.hpp"
#include "host/turns.hpp"
#include "operands/products.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using tile::Sum;

/// The dq sums of a key head. For each row tile of its query heads, a counter contains the index of
/// the key tile that may add to the sums next.
struct DqSums {
  float* dq = nullptr;
  std::unique_ptr<std::atomic<std::int64_t>[]> next_key_tile;
};

using KeyTiles = WorkList<DqSums>;
using KeyTile = KeyTiles::Item;

/// One run of the gradient. Key tiles are independent except for dq, to which they must add in
/// ascending order. For each row tile, a counter contains the index of the key tile that may add
/// next. Threads take key tiles in ascending order, so the first unfinished key tile never waits.
/// If a key tile fails, it also advances the counters, so that no thread waits forever.
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
        queries_(dy_extents(problem)),
        scores_(problem, inputs, kernels_),
        dq_(rows(outputs.dq, query_extents(problem)),
            rows(outputs.dq_rope, query_rope_extents(problem))),
        dk_(rows(outputs.dk, key_extents(problem)),
            rows(outputs.dk_rope, key_rope_extents(problem))),
        value_(rows(inputs.value, value_extents(problem))),
        dy_(rows(inputs.dy, queries_)),
        attention_in_(rows(inputs.attention_in, queries_)),
        dv_(rows(outputs.dv, value_extents(problem))),
        softmax_max_(problem, inputs.softmax_max, queries_),
        softmax_sum_(problem, inputs.softmax_sum, queries_),
        exclusion_(problem, inputs, tiling_),
        dropout_(problem, inputs),
        stage_(storage_of(problem.dtype)),
        pairs_(pair_products(execution)),
        sink_(sink_gradient(inputs)),
        row_tiles_(head_tiles(tiling_, problem.heads_q, &SequenceTiles::row_tiles)),
        key_tiles_(head_tiles(tiling_, problem.heads_kv, &SequenceTiles::key_tiles),
                   [this](const HeadTile& head, DqSums& sums) { begin_head(head, sums); }) {}

  void run();

 private:
  Rows rows(const spec::Tensor& tensor, const spec::Extents& extents) const {
    return rows_of(problem_, tensor, extents, kernels_);
  }
  std::optional<Rows> rows(const std::optional<spec::Tensor>& tensor,
                           const spec::Extents& extents) const {
    return rows_of(problem_, tensor, extents, kernels_);
  }
  /// Returns the dq sums of the block's rows.
  Tile dq_rows(const KeyTile& key_tile, const Block& block) const {
    const std::int64_t row =
        (block.n - key_tile.head * problem_.group()) * tiling_.sequence(key_tile.b).seq_q +
        block.first_row;
    const std::int64_t stride = padded(scores_.channels());
    return {.at = key_tile.slot->dq + row * stride, .stride = stride};
  }
  /// Returns the counter (index of the key tile that may add next) for row tile r of query head g
  /// in the group.
  std::atomic<std::int64_t>& next_key_tile(const KeyTile& key_tile, std::int64_t g,
                                           std::int64_t r) const {
    const std::int64_t number = g * tiling_.sequence(key_tile.b).row_tiles + r;
    return key_tile.slot->next_key_tile[static_cast<std::size_t>(number)];
  }

  std::optional<PairProducts> pair_products(const Execution& execution) const {
    if (execution.pair_kernels == nullptr) return std::nullopt;
    return PairProducts(*execution.pair_kernels, scores_.query(), scores_.key(), value_, dy_,
                        scores_.channels());
  }

  /// Returns the gradient of the sinks, or nothing if the problem has no sink.
  std::optional<SinkGradient> sink_gradient(const Op::Inputs& inputs) const {
    if (!problem_.has_sink()) return std::nullopt;
    return SinkGradient(problem_, inputs, tiling_, kernels_, queries_,
                        workspace_.sink_sums.reserve(queries_.rows()));
  }

  ThreadTiles& prepare(std::int64_t thread) const;
  void prepare_sums();
  void begin_head(const HeadTile& head, const DqSums& sums) const;
  void begin_rows(const HeadTile& row_tile, const ThreadTiles& tiles);
  void row_terms(const RowSpan& span, const ThreadTiles& tiles) const;
  void process(const KeyTile& key_tile, ThreadTiles& tiles);
  void skip_turns(const KeyTile& key_tile) const;
  RowSpan keys_in(const KeyTile& key_tile) const;
  static RowSpan rows_in(const Block& block) {
    return {.b = block.b, .n = block.n, .first = block.first_row, .count = block.rows};
  }
  void load_keys(const KeyTile& key_tile, ThreadTiles& tiles) const;
  void load_rows(const Block& block, ThreadTiles& tiles) const;
  void process_head(const KeyTile& key_tile, std::int64_t n, ThreadTiles& tiles, bool& any);
  void process_block(const KeyTile& key_tile, const Block& block, ThreadTiles& tiles, Sum record);
  void scores(const KeyTile& key_tile, const Block& block, ThreadTiles& tiles) const;
  void softmax_grad(const Block& block, ThreadTiles& tiles) const;
  void round_to_stage(const Block& block, const ThreadTiles& tiles) const;
  void add_to_records(const Block& block, const ThreadTiles& tiles, Sum record) const;
  void add_dq(const KeyTile& key_tile, const Block& block, const ThreadTiles& tiles, bool in_pairs);
  void add_record(const KeyTile& key_tile, const ThreadTiles& tiles, Sum sum) const;
  void finish_keys(const KeyTile& key_tile, const ThreadTiles& tiles, bool any);

  const Op::Problem& problem_;
  Op::Outputs& outputs_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  Workspace& workspace_;
  std::int64_t threads_;
  spec::Extents queries_;
  Scores scores_;
  JoinedRows dq_, dk_;
  Rows value_, dy_, attention_in_, dv_;
  Statistics softmax_max_, softmax_sum_;
  Exclusion exclusion_;
  Dropout dropout_;
  tile::Storage stage_;
  std::optional<PairProducts> pairs_;
  std::optional<SinkGradient> sink_;

  float* row_terms_ = nullptr;
  HeadTiles row_tiles_;
  KeyTiles key_tiles_;
};

void carve(ThreadTiles& t, Carver& carver, const Tiling& tiling, const Op::Problem& p) {
  const std::int64_t rows = tiling.rows, columns = tiling.columns;
  const std::int64_t d = p.head_dim + p.head_dim_rope, dv = p.head_dim_v;
  t.key = carver.tile(columns, d), t.value = carver.tile(columns, dv);
  t.key_transposed = carver.tile(d, columns), t.value_transposed = carver.tile(dv, columns);
  t.query = carver.tile(rows, d), t.dy = carver.tile(rows, dv);
  t.scores = carver.tile(rows, columns), t.dprob = carver.tile(rows, columns);
  if (p.pse_shift != spec::PseShape::absent) t.bias = carver.tile(rows, columns);
  t.dk = carver.tile(columns, d), t.dk_record = carver.tile(columns, d);
  t.dv = carver.tile(columns, dv), t.dv_record = carver.tile(columns, dv);
  t.max = carver.line(rows), t.sum = carver.line(rows), t.row_term = carver.line(rows);
  t.dprob_sums = p.has_sink() ? carver.line(rows) : nullptr;
}

ThreadTiles& Gradient::prepare(std::int64_t thread) const {
  ThreadTiles& tiles = workspace_.threads[static_cast<std::size_t>(thread)];
  Carver carver;
  carve(tiles, carver, tiling_, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, problem_);
  const auto elements = static_cast<std::size_t>(tiling_.rows * tiles.scores.stride);
  tiles.kept.clear();
  if (exclusion_.present()) tiles.excluded.resize(elements);
  if (dropout_.present()) tiles.dropped.resize(elements);
  if (pairs_) pairs_->prepare(tiling_, tiles.pairs);
  return tiles;
}

/// Allocates dq sums for the maximum number of heads that can be in progress at the same time.
void Gradient::prepare_sums() {
  row_terms_ = workspace_.row_terms.reserve(queries_.rows());
  const std::int64_t slots = key_tiles_.slots_for(threads_);
  const std::int64_t slot = problem_.group() * problem_.seq_q * padded(scores_.channels());
  float* const sums = workspace_.dq.reserve(slots * slot);
  std::int64_t most_row_tiles = 0;
  for (const SequenceTiles& sequence : tiling_.sequences)
    most_row_tiles = std::max(most_row_tiles, sequence.row_tiles);
  const auto counters = static_cast<std::size_t>(problem_.group() * most_row_tiles);
  for (std::int64_t s = 0; s < slots; ++s) {
    DqSums& head = key_tiles_.add_slot();
    head.dq = sums + s * slot;
    head.next_key_tile = std::make_unique<std::atomic<std::int64_t>[]>(counters);
  }
}

void Gradient::begin_head(const HeadTile& head, const DqSums& sums) const {
  const SequenceTiles& sequence = tiling_.sequence(head.b);
  for (std::int64_t g = 0; g < problem_.group(); ++g)
    for (std::int64_t r = 0; r < sequence.row_tiles; ++r)
      sums.next_key_tile[static_cast<std::size_t>(g * sequence.row_tiles + r)].store(
          sequence.keys_of(r).first, std::memory_order_relaxed);
}

void Gradient::run() {
  prepare_sums();
  const auto count = static_cast<std::size_t>(threads_);
  if (workspace_.threads.size() < count) workspace_.threads.resize(count);

  const auto begin = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](const HeadTile& tile) { begin_rows(tile, tiles); };
  };
  parallel::work_off([this] { return row_tiles_.next(); }, begin, threads_);

  const auto work = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](const KeyTile& tile) {
      process(tile, tiles);
      key_tiles_.finish(tile);
    };
  };
  parallel::work_off([this] { return key_tiles_.take(); }, work, threads_);
  if (sink_ && outputs_.dsink) sink_->store(*outputs_.dsink, threads_);
}

/// Computes the row terms (sums of dy * attention_in). For rows without keys, also writes the zeros
/// of dq, because no key tile writes them.
void Gradient::begin_rows(const HeadTile& row_tile, const ThreadTiles& tiles) {
  const SequenceTiles& sequence = tiling_.sequence(row_tile.b);
  const RowSpan span = {.b = row_tile.b,
                        .n = row_tile.head,
                        .first = row_tile.index * sequence.rows,
                        .count = sequence.rows_of(row_tile.index)};
  if (!sequence.keys_of(row_tile.index).empty()) return row_terms(span, tiles);
  std::fill_n(tiles.query.at, span.count * tiles.query.stride, 0.0F);
  dq_.write(span, tiles.query, scores_.full_scale(), {&outputs_.dq, &outputs_.dq_rope});
}

/// Computes the row term R(i) = sum over c of dy(i, c) * attention_in(i, c), once per row.
void Gradient::row_terms(const RowSpan& span, const ThreadTiles& tiles) const {
  // Uses the memory of the query tile as a buffer for attention_in. The query tile is unused before
  // the first block, and has enough channels.
  const Tile attention = {.at = tiles.query.at, .stride = tiles.query.stride};
  dy_.read(span, tiles.dy);
  attention_in_.read(span, attention);
  float* const terms = row_terms_ + queries_.row(span.b, span.n, span.first);
  for (std::int64_t i = 0; i < span.count; ++i)
    terms[i] = kernels_.dot(tiles.dy.row(i), attention.row(i), problem_.head_dim_v);
}

void Gradient::process(const KeyTile& key_tile, ThreadTiles& tiles) {
  try {
    tiles.holds_keys = false;
    if (pairs_) pairs_->load_keys(keys_in(key_tile), tiles.pairs);
    bool any = false;
    for (std::int64_t g = 0; g < problem_.group(); ++g)
      process_head(key_tile, key_tile.head * problem_.group() + g, tiles, any);
    finish_keys(key_tile, tiles, any);
  } catch (...) {
    skip_turns(key_tile);
    throw;
  }
}

void Gradient::skip_turns(const KeyTile& key_tile) const {
  const SequenceTiles& sequence = tiling_.sequence(key_tile.b);
  for (std::int64_t g = 0; g < problem_.group(); ++g)
    for (std::int64_t r = 0; r < sequence.row_tiles; ++r)
      if (sequence.keys_of(r).holds(key_tile.index))
        skip_turn(next_key_tile(key_tile, g, r), key_tile.index);
}

RowSpan Gradient::keys_in(const KeyTile& key_tile) const {
  return {.b = key_tile.b,
          .n = key_tile.head,
          .first = key_tile.index * tiling_.columns,
          .count = tiling_.sequence(key_tile.b).columns_of(key_tile.index)};
}

/// Loads the keys in fp32, unless the tiles already contain them.
void Gradient::load_keys(const KeyTile& key_tile, ThreadTiles& tiles) const {
  if (std::exchange(tiles.holds_keys, true)) return;
  const RowSpan span = keys_in(key_tile);
  scores_.key().read(span, tiles.key);
  value_.read(span, tiles.value);
  transpose(tiles.key, span.count, scores_.channels(), tiles.key_transposed);
  transpose(tiles.value, span.count, problem_.head_dim_v, tiles.value_transposed);
}

/// Processes the blocks of one query head with one key tile. The row tiles are grouped into records
/// of consecutive tiles. The dk and dv of a record are summed first, then added to the total.
void Gradient::process_head(const KeyTile& key_tile, std::int64_t n, ThreadTiles& tiles,
                            bool& any) {
  const SequenceTiles& sequence = tiling_.sequence(key_tile.b);
  const RowSpan keys = keys_in(key_tile);
  for (std::int64_t first = 0; first < sequence.row_tiles; first += tiling_.record_tiles) {
    Sum record = Sum::start;
    const std::int64_t last = std::min(first + tiling_.record_tiles, sequence.row_tiles);
    for (std::int64_t r = first; r < last; ++r) {
      if (!sequence.keys_of(r).holds(key_tile.index)) continue;
      process_block(key_tile,
                    {.b = key_tile.b,
                     .n = n,
                     .first_row = r * sequence.rows,
                     .rows = sequence.rows_of(r),
                     .first_column = keys.first,
                     .columns = keys.count},
                    tiles, record);
      record = Sum::extend;
    }
    if (record == Sum::start) continue;
    add_record(key_tile, tiles, any ? Sum::add : Sum::start);
    any = true;
  }
}

void Gradient::load_rows(const Block& block, ThreadTiles& tiles) const {
  if (std::exchange(tiles.holds_rows, true)) return;
  const RowSpan span = rows_in(block);
  scores_.query().read(span, tiles.query);
  dy_.read(span, tiles.dy);
}

void Gradient::process_block(const KeyTile& key_tile, const Block& block, ThreadTiles& tiles,
                             Sum record) {
  tiles.holds_rows = false;
  scores(key_tile, block, tiles);
  softmax_grad(block, tiles);
  const bool in_pairs = pairs_ && pairs_->commit(tiles.scores, tiles.dprob, tiles.pairs);
  if (in_pairs) {
    // The instruction for pairs of bf16 numbers treats a subnormal sum as zero. Therefore each
    // block starts new sums instead of continuing those of an earlier block.
    const Sum sum = record == Sum::start ? Sum::start : Sum::add;
    pairs_->add_dv(tiles.pairs, tiles.dv_record, sum);
    pairs_->add_dk(tiles.pairs, tiles.dk_record, sum);
  } else {
    if (pairs_) round_to_stage(block, tiles);
    load_keys(key_tile, tiles);
    load_rows(block, tiles);
    add_to_records(block, tiles, record);
  }
  add_dq(key_tile, block, tiles, in_pairs);
}

/// Rounds P and dS of a block to the tensor type. Only for blocks with an element that is too small
/// for the instruction for pairs of bf16 numbers. For other blocks, that instruction rounds P and
/// dS.
void Gradient::round_to_stage(const Block& block, const ThreadTiles& tiles) const {
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(block.columns));
  for (const Tile& tile : {tiles.scores, tiles.dprob})
    for (std::int64_t i = 0; i < block.rows; ++i) {
      kernels_.narrow(tile.row(i), 1.0F, block.columns, stage_, codes.data());
      kernels_.widen(codes.data(), stage_, block.columns, tile.row(i));
    }
}

void Gradient::add_to_records(const Block& block, const ThreadTiles& tiles, Sum record) const {
  const auto gradient = [&](const Tile& left, const Tile& right, std::int64_t columns,
                            const Tile& sums) {
    multiply_transposed(kernels_,
                        {.left = left,
                         .right = right,
                         .rows = block.columns,
                         .columns = columns,
                         .depth = block.rows},
                        sums, record);
  };
  gradient(tiles.scores, tiles.dy, problem_.head_dim_v, tiles.dv_record);
  gradient(tiles.dprob, tiles.query, scores_.channels(), tiles.dk_record);
}

/// Computes the scores of a block, including the bias, and dP.
void Gradient::scores(const KeyTile& key_tile, const Block& block, ThreadTiles& t) const {
  if (exclusion_.present()) {
    exclusion_.read(block, t.scores.stride, t.excluded.data());
    Exclusion::find_kept(block, t.scores.stride, t.excluded.data(), t.kept);
  }
  const tile::RowRange* const asked = t.kept.empty() ? nullptr : t.kept.data();
  if (pairs_) pairs_->load_rows(rows_in(block), t.pairs);
  if (!pairs_ || !pairs_->scores(t.pairs, asked, t.scores, t.dprob)) {
    load_keys(key_tile, t);
    load_rows(block, t);
    scores_.multiply(block, t.query, t.key_transposed, t.scores, asked);
    multiply(kernels_,
             {.left = t.dy,
              .right = t.value_transposed,
              .rows = block.rows,
              .columns = block.columns,
              .depth = problem_.head_dim_v,
              .asked = asked},
             t.dprob);
  }
  scores_.add_bias(block, t.scores, t.bias);
}

/// Computes P and dS of a block. Rounds them to the tensor type, unless the following products use
/// pairs of bf16 numbers: these products round P and dS themselves.
void Gradient::softmax_grad(const Block& block, ThreadTiles& t) const {
  const RowSpan span = rows_in(block);
  std::copy_n(row_terms_ + queries_.row(span.b, span.n, span.first), span.count, t.row_term);
  softmax_max_.read(span, t.max);
  softmax_sum_.read(span, t.sum);
  if (dropout_.present()) dropout_.read(block, t.scores.stride, t.dropped.data());
  kernels_.softmax_grad({.scores = t.scores.at,
                         .dprob = t.dprob.at,
                         .row_stride = t.scores.stride,
                         .rows = block.rows,
                         .columns = block.columns,
                         .max = t.max,
                         .sum = t.sum,
                         .row_term = t.row_term,
                         .excluded = t.kept.empty() ? nullptr : t.excluded.data(),
                         .dropped = dropout_.present() ? t.dropped.data() : nullptr,
                         .keep_factor = dropout_.keep_factor(),
                         .scale = scores_.scale(),
                         .stage = pairs_ ? tile::Storage::fp32 : stage_,
                         .dprob_sums = t.dprob_sums});
}

/// Waits until all earlier key tiles have added to the dq sums of these rows. Then adds to these
/// sums and to the sums of dsink. The last key tile scales and stores the rows.
void Gradient::add_dq(const KeyTile& key_tile, const Block& block, const ThreadTiles& tiles,
                      bool in_pairs) {
  const SequenceTiles& sequence = tiling_.sequence(key_tile.b);
  const std::int64_t g = block.n - key_tile.head * problem_.group();
  const std::int64_t r = block.first_row / sequence.rows;
  auto& next = next_key_tile(key_tile, g, r);
  await_turn(next, key_tile.index);
  const TileRange keys = sequence.keys_of(r);
  const Tile sums = dq_rows(key_tile, block);
  const Sum sum = key_tile.index == keys.first ? Sum::start : Sum::add;
  if (sink_) sink_->add(rows_in(block), tiles.dprob_sums, sum);
  if (in_pairs)
    pairs_->add_dq(tiles.pairs, sums, sum);
  else
    multiply(kernels_,
             {.left = tiles.dprob,
              .right = tiles.key,
              .rows = block.rows,
              .columns = scores_.channels(),
              .depth = block.columns},
             sums, sum);
  if (key_tile.index == keys.last - 1)
    dq_.write(rows_in(block), sums, scores_.full_scale(), {&outputs_.dq, &outputs_.dq_rope});
  pass_turn(next, key_tile.index);
}

void Gradient::add_record(const KeyTile& key_tile, const ThreadTiles& tiles, Sum sum) const {
  const std::int64_t rows = keys_in(key_tile).count;
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
  const RowSpan span = keys_in(key_tile);
  if (!any) {
    std::fill_n(tiles.dk.at, span.count * tiles.dk.stride, 0.0F);
    std::fill_n(tiles.dv.at, span.count * tiles.dv.stride, 0.0F);
  }
  dk_.write(span, tiles.dk, scores_.full_scale(), {&outputs_.dk, &outputs_.dk_rope});
  dv_.write(span, tiles.dv, 1.0F, outputs_.dv);
}

}  // namespace

void compute_gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
                      const Execution& execution) {
  Gradient(problem, inputs, outputs, execution).run();
  execution.workspace.dq.trim();
}

}  // namespace assay::optimized
