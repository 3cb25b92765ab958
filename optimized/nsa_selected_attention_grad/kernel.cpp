#include "nsa_selected_attention_grad/kernel.hpp"

#include <algorithm>
#include <atomic>

#include "assay/parallel/loop.hpp"
#include "host/turns.hpp"
#include "host/work_list.hpp"
#include "nsa_selected_attention_grad/readers.hpp"
#include "operands/products.hpp"
#include "selection/row_numbers.hpp"

namespace assay::optimized::selected {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using tile::Sum;

constexpr std::int64_t tokens_per_row_term_tile = 64;

/// The data of a key head while its blocks are processed: the inverted lists, the dq sums of each
/// token, and one counter per token. The counter is the number of blocks whose contribution is
/// already in the dq sums.
struct HeadSums {
  Readers readers;
  float* dq = nullptr;
  std::unique_ptr<std::atomic<std::int64_t>[]> added;
};

using KeyBlocks = WorkList<HeadSums>;
using KeyBlock = KeyBlocks::Item;
using RowTile = std::span<const Reader>;

/// One run of the gradient. Key blocks are independent except for dq, to which they must add in
/// ascending order. For each token, a counter contains the number of blocks that have been added.
/// Threads take blocks in ascending order, so the first unfinished block never waits. If a block
/// fails, it also advances the counters, so that no thread waits forever.
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
        queries_(query_extents(problem)),
        query_(rows(inputs.query, queries_)),
        dq_(rows(outputs.dq, queries_)),
        dy_(rows(inputs.attention_out_grad, attention_out_extents(problem))),
        attention_(rows(inputs.attention_out, attention_out_extents(problem))),
        key_(rows(inputs.key, key_extents(problem))),
        dk_(rows(outputs.dk, key_extents(problem))),
        value_(rows(inputs.value, value_extents(problem))),
        dv_(rows(outputs.dv, value_extents(problem))),
        softmax_max_(inputs.softmax_max, queries_, kernels_),
        softmax_sum_(inputs.softmax_sum, queries_, kernels_),
        lists_(problem, inputs.topk_indices, "NSAS-C38"),
        scale_(static_cast<float>(problem.scale_value)),
        stage_(storage_of(problem.dtype)),
        token_tiles_(problem.batch, problem.heads_q,
                     [this](std::int64_t b) {
                       return device::ceil_divide(queries_.length(b), tokens_per_row_term_tile);
                     }),
        key_blocks_(
            {problem.batch, problem.heads_kv, [this](std::int64_t b) { return lists_.blocks(b); }},
            [this](const HeadTile& head, HeadSums& sums) { begin_head(head, sums); }) {}

  Demand run();

 private:
  Rows rows(const spec::Tensor& tensor, const spec::Extents& extents) const {
    return {tensor, spec::Layout::tnd, extents, kernels_};
  }
  std::int64_t group() const { return problem_.group(); }
  /// Returns the dq sums of a token, one row per query head.
  Tile dq_rows(const HeadSums& sums, std::int64_t token) const {
    const std::int64_t stride = padded(problem_.head_dim);
    return {.at = sums.dq + token * group() * stride, .stride = stride};
  }
  RowSpan keys_in(const KeyBlock& block) const {
    return {.b = block.b,
            .n = block.head,
            .first = block.index * tiling_.columns,
            .count = tiling_.columns};
  }
  /// Calls visit(row in the tile, position in the tensors) for every row of the row tile.
  template <class Visit>
  void for_each_row(const KeyBlock& block, const RowTile& readers, const Visit& visit) const {
    std::int64_t row = 0;
    for (const Reader& reader : readers)
      for (std::int64_t g = 0; g < group(); ++g)
        visit(row++, spec::RowPosition{block.b, block.head * group() + g, reader.token});
  }

  ThreadTiles& prepare(std::int64_t thread) const;
  void prepare_sums();
  void begin_head(const HeadTile& head, HeadSums& sums);
  void row_terms(const HeadTile& token_tile, const ThreadTiles& tiles) const;
  void process(const KeyBlock& block, ThreadTiles& tiles);
  void process_readers(const KeyBlock& block, const RowTile& readers, ThreadTiles& tiles);
  void load_keys(const KeyBlock& block, const ThreadTiles& tiles) const;
  void process_tile(const KeyBlock& block, const RowTile& readers, ThreadTiles& tiles, Sum record);
  void gather(const KeyBlock& block, const RowTile& readers, const ThreadTiles& tiles) const;
  void softmax_grad(const KeyBlock& block, const RowTile& readers, ThreadTiles& tiles) const;
  const std::uint8_t* exclusion(const KeyBlock& block, const RowTile& readers,
                                ThreadTiles& tiles) const;
  void add_dq(const KeyBlock& block, const RowTile& readers, const ThreadTiles& tiles);
  void write_dq(const HeadTile& head, std::int64_t token, const Tile& sums);
  void add_record(const ThreadTiles& tiles, Sum sum) const;

  const Op::Problem& problem_;
  Op::Outputs& outputs_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  Workspace& workspace_;
  std::int64_t threads_;
  spec::Extents queries_;
  Rows query_, dq_, dy_, attention_, key_, dk_, value_, dv_;
  RowNumbers softmax_max_, softmax_sum_;
  Lists lists_;
  float scale_;
  tile::Storage stage_;

  float* row_terms_ = nullptr;
  HeadTiles token_tiles_;
  KeyBlocks key_blocks_;
  Demand demand_;
};

void carve(ThreadTiles& t, Carver& carver, const Tiling& tiling, const Op::Problem& p) {
  const std::int64_t rows = std::max(tiling.rows, tokens_per_row_term_tile);
  const std::int64_t columns = tiling.columns, d = p.head_dim, dv = p.head_dim_v;
  t.key = carver.tile(columns, d), t.value = carver.tile(columns, dv);
  t.key_transposed = carver.tile(d, columns), t.value_transposed = carver.tile(dv, columns);
  t.query = carver.tile(rows, std::max(d, dv)), t.dy = carver.tile(rows, dv);
  t.scores = carver.tile(rows, columns), t.dprob = carver.tile(rows, columns);
  t.dq = carver.tile(rows, d);
  t.dk = carver.tile(columns, d), t.dk_record = carver.tile(columns, d);
  t.dv = carver.tile(columns, dv), t.dv_record = carver.tile(columns, dv);
  t.max = carver.line(rows), t.sum = carver.line(rows), t.row_term = carver.line(rows);
}

ThreadTiles& Gradient::prepare(std::int64_t thread) const {
  ThreadTiles& tiles = workspace_.threads[static_cast<std::size_t>(thread)];
  Carver carver;
  carve(tiles, carver, tiling_, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, problem_);
  if (is_causal(problem_))
    tiles.excluded.resize(static_cast<std::size_t>(tiling_.rows * tiles.scores.stride));
  return tiles;
}

/// Allocates dq sums for the maximum number of heads that can be in progress at the same time.
void Gradient::prepare_sums() {
  row_terms_ = workspace_.row_terms.reserve(queries_.rows());
  const std::int64_t slots = key_blocks_.slots_for(threads_);
  const std::int64_t slot = group() * problem_.seq_q * padded(problem_.head_dim);
  float* const sums = workspace_.dq.reserve(slots * slot);
  for (std::int64_t s = 0; s < slots; ++s) {
    HeadSums& head = key_blocks_.add_slot();
    head.dq = sums + s * slot;
    head.added =
        std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(problem_.seq_q));
  }
}

/// Prepares a key head. For tokens with only masked keys in their lists, also writes the zeros of
/// dq, because no block writes them.
void Gradient::begin_head(const HeadTile& head, HeadSums& sums) {
  const std::int64_t tokens = queries_.length(head.b);
  sums.readers.invert(lists_, head.b, head.head, tokens);
  for (std::int64_t token = 0; token < tokens; ++token) {
    sums.added[static_cast<std::size_t>(token)].store(0, std::memory_order_relaxed);
    if (sums.readers.seen(token) > 0) continue;
    const Tile zeros = dq_rows(sums, token);
    std::fill_n(zeros.at, group() * zeros.stride, 0.0F);
    write_dq(head, token, zeros);
  }
  for (std::int64_t block = 0; block < lists_.blocks(head.b); ++block)
    ++demand_[static_cast<std::int64_t>(sums.readers.of(block).size())];
}

Demand Gradient::run() {
  prepare_sums();
  const auto count = static_cast<std::size_t>(threads_);
  if (workspace_.threads.size() < count) workspace_.threads.resize(count);

  const auto begin = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](const HeadTile& tile) { row_terms(tile, tiles); };
  };
  parallel::work_off([this] { return token_tiles_.next(); }, begin, threads_);

  const auto work = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](const KeyBlock& block) {
      process(block, tiles);
      key_blocks_.finish(block);
    };
  };
  parallel::work_off([this] { return key_blocks_.take(); }, work, threads_);
  return demand_;
}

/// Computes the row term R(i) = sum over c of dy(i, c) * attention_out(i, c), once per row.
void Gradient::row_terms(const HeadTile& token_tile, const ThreadTiles& tiles) const {
  const std::int64_t first = token_tile.index * tokens_per_row_term_tile;
  const RowSpan span = {
      .b = token_tile.b,
      .n = token_tile.head,
      .first = first,
      .count = std::min(tokens_per_row_term_tile, queries_.length(token_tile.b) - first)};
  // Uses the memory of the query tile as a buffer for attention_out. The query tile is unused
  // before the first block.
  const Tile attention = tiles.query;
  dy_.read(span, tiles.dy);
  attention_.read(span, attention);
  float* const terms = row_terms_ + queries_.row(span.b, span.n, span.first);
  for (std::int64_t i = 0; i < span.count; ++i)
    terms[i] = kernels_.dot(tiles.dy.row(i), attention.row(i), problem_.head_dim_v);
}

void Gradient::process(const KeyBlock& block, ThreadTiles& tiles) {
  const RowTile readers = block.slot->readers.of(block.index);
  try {
    process_readers(block, readers, tiles);
  } catch (...) {
    for (const Reader& reader : readers)
      skip_turn(block.slot->added[static_cast<std::size_t>(reader.token)], reader.rank);
    throw;
  }
}

/// Processes the row tiles of a block. Consecutive row tiles form a record: their dk and dv are
/// summed first, then added to the total.
void Gradient::process_readers(const KeyBlock& block, const RowTile& readers, ThreadTiles& tiles) {
  const auto tokens = static_cast<std::size_t>(tiling_.tokens);
  const auto record = static_cast<std::size_t>(tiling_.record_tiles) * tokens;
  if (!readers.empty()) load_keys(block, tiles);
  for (std::size_t first = 0; first < readers.size(); first += tokens) {
    const std::size_t count = std::min(tokens, readers.size() - first);
    const bool starts = first % record == 0;
    process_tile(block, readers.subspan(first, count), tiles, starts ? Sum::start : Sum::extend);
    if ((first + tokens) % record == 0 || first + count == readers.size())
      add_record(tiles, first < record ? Sum::start : Sum::add);
  }
  if (readers.empty()) {
    std::fill_n(tiles.dk.at, tiling_.columns * tiles.dk.stride, 0.0F);
    std::fill_n(tiles.dv.at, tiling_.columns * tiles.dv.stride, 0.0F);
  }
  dk_.write(keys_in(block), tiles.dk, scale_, outputs_.dk);
  dv_.write(keys_in(block), tiles.dv, 1.0F, outputs_.dv);
}

void Gradient::load_keys(const KeyBlock& block, const ThreadTiles& tiles) const {
  const RowSpan span = keys_in(block);
  key_.read(span, tiles.key);
  value_.read(span, tiles.value);
  transpose(tiles.key, span.count, problem_.head_dim, tiles.key_transposed);
  transpose(tiles.value, span.count, problem_.head_dim_v, tiles.value_transposed);
}

void Gradient::process_tile(const KeyBlock& block, const RowTile& readers, ThreadTiles& t,
                            Sum record) {
  const std::int64_t rows = static_cast<std::int64_t>(readers.size()) * group();
  const std::int64_t columns = tiling_.columns, d = problem_.head_dim, dv = problem_.head_dim_v;
  gather(block, readers, t);
  multiply(kernels_, {t.query, t.key_transposed, rows, columns, d}, t.scores);
  multiply(kernels_, {t.dy, t.value_transposed, rows, columns, dv}, t.dprob);
  softmax_grad(block, readers, t);
  multiply_transposed(kernels_, {t.scores, t.dy, columns, dv, rows}, t.dv_record, record);
  multiply_transposed(kernels_, {t.dprob, t.query, columns, d, rows}, t.dk_record, record);
  multiply(kernels_, {t.dprob, t.key, rows, d, columns}, t.dq);
  add_dq(block, readers, t);
}

void Gradient::gather(const KeyBlock& block, const RowTile& readers, const ThreadTiles& t) const {
  for_each_row(block, readers, [&](std::int64_t row, const spec::RowPosition& at) {
    const RowSpan span = {.b = at.b, .n = at.n, .first = at.s, .count = 1};
    query_.read(span, {.at = t.query.row(row), .stride = t.query.stride});
    dy_.read(span, {.at = t.dy.row(row), .stride = t.dy.stride});
    t.row_term[row] = row_terms_[queries_.row(at.b, at.n, at.s)];
    t.max[row] = softmax_max_.read(at);
    t.sum[row] = softmax_sum_.read(at);
  });
}

/// Computes P and dS of a tile and rounds them to the tensor type.
void Gradient::softmax_grad(const KeyBlock& block, const RowTile& readers, ThreadTiles& t) const {
  kernels_.softmax_grad({.scores = t.scores.at,
                         .dprob = t.dprob.at,
                         .row_stride = t.scores.stride,
                         .rows = static_cast<std::int64_t>(readers.size()) * group(),
                         .columns = tiling_.columns,
                         .max = t.max,
                         .sum = t.sum,
                         .row_term = t.row_term,
                         .excluded = exclusion(block, readers, t),
                         .scale = scale_,
                         .stage = stage_});
}

/// Returns a mask for the tile that excludes, in each row, the keys after the position of the
/// token. Returns null if no row has such keys.
const std::uint8_t* Gradient::exclusion(const KeyBlock& block, const RowTile& readers,
                                        ThreadTiles& t) const {
  const std::int64_t first = block.index * tiling_.columns;
  // Tokens are in ascending order. If the first token can attend to the whole block, all tokens
  // can.
  if (!is_causal(problem_) || first + tiling_.columns - 1 <= readers.front().token) return nullptr;
  for_each_row(block, readers, [&](std::int64_t row, const spec::RowPosition& at) {
    const std::int64_t seen = std::clamp<std::int64_t>(at.s + 1 - first, 0, tiling_.columns);
    std::uint8_t* const excluded = t.excluded.data() + row * t.scores.stride;
    std::fill_n(excluded, seen, std::uint8_t{0});
    std::fill(excluded + seen, excluded + t.scores.stride, std::uint8_t{1});
  });
  return t.excluded.data();
}

/// For each token of the tile: waits until all earlier blocks have added to the dq sums of the
/// token, then adds. After the last block of a token, scales and stores its rows.
void Gradient::add_dq(const KeyBlock& block, const RowTile& readers, const ThreadTiles& t) {
  const HeadSums& head = *block.slot;
  const std::int64_t count = group() * t.dq.stride;
  const float* from = t.dq.at;
  for (const Reader& reader : readers) {
    auto& added = head.added[static_cast<std::size_t>(reader.token)];
    await_turn(added, reader.rank);
    const Tile sums = dq_rows(head, reader.token);
    if (reader.rank == 0)
      std::copy_n(from, count, sums.at);
    else
      kernels_.add(from, count, sums.at);
    from += count;
    if (reader.rank == head.readers.seen(reader.token) - 1) write_dq(block, reader.token, sums);
    pass_turn(added, reader.rank);
  }
}

void Gradient::write_dq(const HeadTile& head, std::int64_t token, const Tile& sums) {
  for (std::int64_t g = 0; g < group(); ++g)
    dq_.write({.b = head.b, .n = head.head * group() + g, .first = token, .count = 1},
              {.at = sums.row(g), .stride = sums.stride}, scale_, outputs_.dq);
}

void Gradient::add_record(const ThreadTiles& tiles, Sum sum) const {
  const auto into = [&](const Tile& record, const Tile& total) {
    const std::int64_t count = tiling_.columns * record.stride;
    if (sum == Sum::start)
      std::copy_n(record.at, count, total.at);
    else
      kernels_.add(record.at, count, total.at);
  };
  into(tiles.dk_record, tiles.dk);
  into(tiles.dv_record, tiles.dv);
}

}  // namespace

Demand compute_gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
                        const Execution& execution) {
  const Demand demand = Gradient(problem, inputs, outputs, execution).run();
  execution.workspace.dq.trim();
  return demand;
}

}  // namespace assay::optimized::selected
