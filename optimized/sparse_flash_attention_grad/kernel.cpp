#include "sparse_flash_attention_grad/kernel.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <span>

#include "assay/parallel/loop.hpp"
#include "attention/joined_rows.hpp"
#include "host/turns.hpp"
#include "host/work_list.hpp"
#include "operands/products.hpp"
#include "sparse_flash_attention_grad/lists.hpp"

namespace assay::optimized::sparse_flash {
namespace {

using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;
using tile::Sum;

constexpr std::int64_t dim = Problem::head_dim;
constexpr std::int64_t all_keys = std::numeric_limits<std::int64_t>::max();

/// The data of a sequence while its tokens are processed: the sums of d_key (rope channels last)
/// and d_value, and one counter per token. The counter of a token is a key index. This token and
/// all earlier tokens will add nothing more to keys below this index.
struct SequenceSums {
  Tile d_key, d_value;
  std::unique_ptr<std::atomic<std::int64_t>[]> added;
};

using Tokens = WorkList<SequenceSums>;
using Token = Tokens::Item;
using Keys = std::span<const std::int64_t>;

/// One run of the gradient. Tokens are independent except for the sums over queries, to which they
/// must add in ascending order. A token adds to a key after all earlier tokens have finished with
/// the keys up to this one. Threads take tokens in ascending order, so the first unfinished token
/// never waits.
class Gradient {
 public:
  Gradient(const Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
           const Execution& execution)
      : problem_(problem),
        inputs_(inputs),
        outputs_(outputs),
        tiling_(execution.tiling),
        kernels_(execution.kernels),
        workspace_(execution.workspace),
        threads_(execution.threads),
        queries_(query_extents(problem)),
        keys_(key_extents(problem)),
        query_(joined(inputs.query, inputs.query_rope, queries_, query_rope_extents(problem))),
        d_query_(
            joined(outputs.d_query, outputs.d_query_rope, queries_, query_rope_extents(problem))),
        key_(joined(inputs.key, inputs.key_rope, keys_, key_rope_extents(problem))),
        d_key_(joined(outputs.d_key, outputs.d_key_rope, keys_, key_rope_extents(problem))),
        d_out_(rows(inputs.d_out, queries_)),
        out_(rows(inputs.out, queries_)),
        lists_(problem, inputs.sparse_indices),
        scale_(static_cast<float>(problem.scale_value)),
        tokens_({problem.batch, 1, [this](std::int64_t b) { return queries_.length(b); }},
                [this](const HeadTile& at, SequenceSums& sums) { begin(at.b, sums); }) {
    if (inputs.value) value_ = rows(*inputs.value, keys_);
    if (outputs.d_value) d_value_ = rows(*outputs.d_value, keys_);
  }

  Demand run();

 private:
  Rows rows(const spec::Tensor& tensor, const spec::Extents& extents) const {
    return {tensor, problem_.layout, extents, kernels_};
  }
  JoinedRows joined(const spec::Tensor& main, const std::optional<spec::Tensor>& rope,
                    const spec::Extents& extents, const spec::Extents& rope_extents) const {
    std::optional<Rows> more;
    if (rope) more = rows(*rope, rope_extents);
    return {rows(main, extents), more};
  }
  std::int64_t width() const { return dim + problem_.head_dim_rope; }
  std::int64_t heads() const { return problem_.heads_q; }
  /// Calls visit(row of the tile, position in the tensors) for every query head of a token.
  template <class Visit>
  void for_each_head(const Token& token, const Visit& visit) const {
    for (std::int64_t n = 0; n < heads(); ++n)
      visit(n, RowSpan{.b = token.b, .n = n, .first = token.index, .count = 1});
  }

  ThreadTiles& prepare(std::int64_t thread) const;
  void prepare_sums();
  void begin(std::int64_t b, SequenceSums& sums) const;
  void process(const Token& token, ThreadTiles& t);
  void load_token(const Token& token, ThreadTiles& t) const;
  float statistic(const spec::Tensor& tensor, const RowSpan& row) const;
  void process_tile(const Token& token, Keys keys, ThreadTiles& t, Sum d_query) const;
  void gather(const Token& token, Keys keys, const ThreadTiles& t) const;
  void add_to_keys(const Token& token, Keys keys, const ThreadTiles& t) const;
  void write_d_query(const Token& token, const ThreadTiles& t);
  void write_keys(std::int64_t b, const SequenceSums& sums);
  void write_unread_keys();

  const Problem& problem_;
  const Op::Inputs& inputs_;
  Op::Outputs& outputs_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  Workspace& workspace_;
  std::int64_t threads_;
  spec::Extents queries_, keys_;
  JoinedRows query_, d_query_, key_, d_key_;
  Rows d_out_, out_;
  std::optional<Rows> value_, d_value_;
  KeyLists lists_;
  float scale_;
  Tokens tokens_;
  std::mutex mutex_;
  Demand demand_;
};

void carve(ThreadTiles& t, Carver& carver, const Tiling& tiling, const Problem& p) {
  const std::int64_t rows = tiling.rows, columns = tiling.columns, width = dim + p.head_dim_rope;
  t.query = carver.tile(rows, width), t.d_query = carver.tile(rows, width);
  t.d_out = carver.tile(rows, dim);
  t.key = carver.tile(columns, width), t.key_transposed = carver.tile(width, columns);
  t.value = t.key, t.value_transposed = t.key_transposed;
  if (!p.is_merged())
    t.value = carver.tile(columns, dim), t.value_transposed = carver.tile(dim, columns);
  t.scores = carver.tile(rows, columns), t.dprob = carver.tile(rows, columns);
  t.d_key = carver.tile(columns, width), t.d_value = carver.tile(columns, dim);
  t.max = carver.line(rows), t.sum = carver.line(rows), t.row_term = carver.line(rows);
}

ThreadTiles& Gradient::prepare(std::int64_t thread) const {
  ThreadTiles& tiles = workspace_.threads[static_cast<std::size_t>(thread)];
  Carver carver;
  carve(tiles, carver, tiling_, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, problem_);
  return tiles;
}

/// Allocates sums for the maximum number of sequences that can be in progress at the same time.
void Gradient::prepare_sums() {
  const std::int64_t slots = tokens_.slots_for(threads_), rows = problem_.seq_kv;
  const auto carve_sums = [&](Carver& carver, SequenceSums& sums) {
    sums.d_key = carver.tile(rows, width()), sums.d_value = carver.tile(rows, dim);
  };
  std::vector<SequenceSums*> all;
  Carver carver;
  for (std::int64_t s = 0; s < slots; ++s) {
    all.push_back(&tokens_.add_slot());
    carve_sums(carver, *all.back());
  }
  carver.start(workspace_.sums.reserve(carver.used()));
  for (SequenceSums* sums : all) {
    carve_sums(carver, *sums);
    sums->added =
        std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(problem_.seq_q));
  }
}

void Gradient::begin(std::int64_t b, SequenceSums& sums) const {
  for (const Tile& tile : {sums.d_key, sums.d_value})
    std::fill_n(tile.at, keys_.length(b) * tile.stride, 0.0F);
  for (std::int64_t token = 0; token < queries_.length(b); ++token)
    sums.added[static_cast<std::size_t>(token)].store(0, std::memory_order_relaxed);
}

Demand Gradient::run() {
  prepare_sums();
  const auto count = static_cast<std::size_t>(threads_);
  if (workspace_.threads.size() < count) workspace_.threads.resize(count);
  const auto work = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](const Token& token) {
      process(token, tiles);
      tokens_.finish(token);
    };
  };
  write_unread_keys();
  parallel::work_off([this] { return tokens_.take(); }, work, threads_);
  return demand_;
}

/// Writes the zero gradients of keys in sequences without queries, because no token processes these
/// keys.
void Gradient::write_unread_keys() {
  for (std::int64_t b = 0; b < problem_.batch; ++b) {
    if (queries_.length(b) > 0 || keys_.length(b) == 0) continue;
    Floats zeros;
    Carver carver;
    SequenceSums sums;
    for (int pass = 0; pass < 2; ++pass) {
      sums.d_key = carver.tile(keys_.length(b), width());
      sums.d_value = carver.tile(keys_.length(b), dim);
      if (pass == 0) carver.start(zeros.reserve(carver.used()));
    }
    begin(b, sums);
    write_keys(b, sums);
  }
}

void Gradient::process(const Token& token, ThreadTiles& t) {
  const auto at = static_cast<std::size_t>(token.index);
  std::atomic<std::int64_t>& added = token.slot->added[at];
  try {
    lists_.read(token.b, token.index, t.keys);
    const Keys keys = t.keys;
    const auto columns = static_cast<std::size_t>(tiling_.columns);
    if (!keys.empty()) load_token(token, t);
    for (std::size_t first = 0; first < keys.size(); first += columns)
      process_tile(token, keys.subspan(first, std::min(columns, keys.size() - first)), t,
                   first == 0 ? Sum::start : Sum::add);
    if (keys.empty()) std::fill_n(t.d_query.at, heads() * t.d_query.stride, 0.0F);
    write_d_query(token, t);
    if (at > 0) await_beyond(token.slot->added[at - 1], all_keys - 1);
    if (token.index + 1 == queries_.length(token.b)) write_keys(token.b, *token.slot);
    const std::lock_guard lock(mutex_);
    demand_.add(std::ssize(keys), tiling_);
  } catch (...) {
    advance(added, all_keys);  // otherwise, the next token would wait forever
    throw;
  }
  advance(added, all_keys);
}

/// Reads the query rows of a token, and computes the row term (sum of d_out * out).
void Gradient::load_token(const Token& token, ThreadTiles& t) const {
  // Uses the memory of d_query as a buffer for out. d_query is unused before the first tile.
  const Tile out = t.d_query;
  for_each_head(token, [&](std::int64_t n, const RowSpan& row) {
    query_.read(row, {.at = t.query.row(n), .stride = t.query.stride});
    d_out_.read(row, {.at = t.d_out.row(n), .stride = t.d_out.stride});
    out_.read(row, {.at = out.row(n), .stride = out.stride});
    t.row_term[n] = kernels_.dot(t.d_out.row(n), out.row(n), dim);
    t.max[n] = statistic(inputs_.softmax_max, row);
    t.sum[n] = statistic(inputs_.softmax_sum, row);
  });
}

/// Reads softmax_max or softmax_sum. Each token and head has one number; the head is the last axis.
float Gradient::statistic(const spec::Tensor& tensor, const RowSpan& row) const {
  const bool packed = is_packed(problem_.layout);
  const std::int64_t token = packed ? queries_.start(row.b) + row.first : row.first;
  std::int64_t element =
      tensor.offset + token * tensor.strides[packed ? 1 : 2] + row.n * tensor.strides.back();
  if (!packed) element += row.b * tensor.strides[0];
  return static_cast<float>(tensor.load(element));
}

void Gradient::process_tile(const Token& token, Keys keys, ThreadTiles& t, Sum d_query) const {
  const auto columns = static_cast<std::int64_t>(keys.size());
  gather(token, keys, t);
  multiply(kernels_, {t.query, t.key_transposed, heads(), columns, width()}, t.scores);
  multiply(kernels_, {t.d_out, t.value_transposed, heads(), columns, dim}, t.dprob);
  kernels_.softmax_grad({.scores = t.scores.at,
                         .dprob = t.dprob.at,
                         .row_stride = t.scores.stride,
                         .rows = heads(),
                         .columns = columns,
                         .max = t.max,
                         .sum = t.sum,
                         .row_term = t.row_term,
                         .scale = scale_,
                         .stage = storage_of(problem_.dtype)});
  multiply(kernels_, {t.dprob, t.key, heads(), width(), columns}, t.d_query, d_query);
  multiply_transposed(kernels_, {t.dprob, t.query, columns, width(), heads()}, t.d_key);
  multiply_transposed(kernels_, {t.scores, t.d_out, columns, dim, heads()}, t.d_value);
  add_to_keys(token, keys, t);
}

/// Copies the rows of the listed keys to a tile. Consecutive keys are copied together.
void Gradient::gather(const Token& token, Keys keys, const ThreadTiles& t) const {
  for (std::size_t first = 0, next; first < keys.size(); first = next) {
    next = first + 1;
    while (next < keys.size() && keys[next] == keys[next - 1] + 1) ++next;
    const RowSpan span = {.b = token.b,
                          .n = 0,
                          .first = keys[first],
                          .count = static_cast<std::int64_t>(next - first)};
    const auto row = static_cast<std::int64_t>(first);
    key_.read(span, {.at = t.key.row(row), .stride = t.key.stride});
    if (value_) value_->read(span, {.at = t.value.row(row), .stride = t.value.stride});
  }
  const auto count = static_cast<std::int64_t>(keys.size());
  transpose(t.key, count, width(), t.key_transposed);
  if (value_) transpose(t.value, count, dim, t.value_transposed);
}

/// Adds the gradients of a tile to the sums of its keys, after all earlier tokens have added to
/// these keys.
void Gradient::add_to_keys(const Token& token, Keys keys, const ThreadTiles& t) const {
  SequenceSums& sums = *token.slot;
  const auto at = static_cast<std::size_t>(token.index);
  if (at > 0) await_beyond(sums.added[at - 1], keys.back());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto row = static_cast<std::int64_t>(k);
    kernels_.add(t.d_key.row(row), width(), sums.d_key.row(keys[k]));
    kernels_.add(t.d_value.row(row), dim, sums.d_value.row(keys[k]));
  }
  // If a list repeats a block, the last key of this tile can also be the first key of the next
  // tile.
  const std::int64_t *next = keys.data() + keys.size(), *end = t.keys.data() + t.keys.size();
  const bool repeats = next != end && *next == keys.back();
  advance(sums.added[at], keys.back() + (repeats ? 0 : 1));
}

void Gradient::write_d_query(const Token& token, const ThreadTiles& t) {
  for_each_head(token, [&](std::int64_t n, const RowSpan& row) {
    d_query_.write(row, {.at = t.d_query.row(n), .stride = t.d_query.stride}, scale_,
                   {&outputs_.d_query, &outputs_.d_query_rope});
  });
}

/// Scales and stores the gradients of the keys of a sequence. If the call has no value tensor, adds
/// the gradients of key and value after the scaling.
void Gradient::write_keys(std::int64_t b, const SequenceSums& sums) {
  const RowSpan span = {.b = b, .n = 0, .first = 0, .count = keys_.length(b)};
  float scale = scale_;
  if (problem_.is_merged()) {
    for (std::int64_t j = 0; j < span.count; ++j) {
      float* const row = sums.d_key.row(j);
      for (std::int64_t d = 0; d < width(); ++d) row[d] *= scale_;
      kernels_.add(sums.d_value.row(j), dim, row);
    }
    scale = 1;
  }
  d_key_.write(span, sums.d_key, scale, {&outputs_.d_key, &outputs_.d_key_rope});
  if (d_value_) d_value_->write(span, sums.d_value, 1.0F, *outputs_.d_value);
}

}  // namespace

Demand compute_gradient(const Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
                        const Execution& execution) {
  const Demand demand = Gradient(problem, inputs, outputs, execution).run();
  execution.workspace.sums.trim();
  return demand;
}

}  // namespace assay::optimized::sparse_flash
