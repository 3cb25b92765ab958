#include "attention/forward.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "assay/parallel/loop.hpp"
#include "attention/dropout.hpp"
#include "attention/exclusion.hpp"
#include "attention/head_tiles.hpp"
#include "attention/scores.hpp"
#include "attention/statistics.hpp"
#include "operands/fill.hpp"
#include "operands/flat_view.hpp"
#include "operands/products.hpp"

namespace assay::optimized {
namespace {

constexpr float largest = std::numeric_limits<float>::max();
constexpr float nothing_yet = -std::numeric_limits<float>::infinity();

/// Returns the sink of query head n.
float sink_of(const spec::Tensor& sinks, std::int64_t n) {
  constexpr std::int64_t size = sizeof(float);
  float sink = 0;
  std::memcpy(&sink, sinks.bytes.data() + FlatView(sinks)(n) * size, size);
  return sink;
}

/// The buffers of one host thread.
struct ForwardTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded, dropped;
  std::vector<std::byte> staged;
  Tile query, key, key_transposed, value, scores, bias, output;
  /// Arrays with one value per row: the maximum of the keys so far, their sum, and the factor by
  /// which the last key tile rescaled the sum.
  float *max = nullptr, *sum = nullptr, *correction = nullptr;
  float* ones = nullptr;
};

void carve(ForwardTiles& t, Carver& carver, const Tiling& tiling, const spec::AttentionProblem& p) {
  const std::int64_t rows = tiling.rows, columns = tiling.columns;
  const std::int64_t d = p.head_dim + p.head_dim_rope, dv = p.head_dim_v;
  t.query = carver.tile(rows, d), t.key = carver.tile(columns, d);
  t.key_transposed = carver.tile(d, columns), t.value = carver.tile(columns, dv);
  t.scores = carver.tile(rows, columns), t.output = carver.tile(rows, dv);
  if (p.pse_shift != spec::PseShape::absent) t.bias = carver.tile(rows, columns);
  t.max = carver.line(rows), t.sum = carver.line(rows), t.correction = carver.line(rows);
  t.ones = carver.line(columns);
}

class Forward {
 public:
  Forward(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
          const ForwardResults& results, const Tiling& tiling, const tile::Kernels& kernels)
      : problem_(problem),
        results_(results),
        tiling_(tiling),
        kernels_(kernels),
        queries_(dy_extents(problem)),
        scores_(problem, inputs, kernels),
        value_(rows_of(problem, inputs.value, value_extents(problem), kernels)),
        attention_(rows_of(problem, results.attention_out, queries_, kernels)),
        softmax_max_(problem, results.softmax_max, queries_),
        softmax_sum_(problem, results.softmax_sum, queries_),
        exclusion_(problem, inputs, tiling),
        dropout_(problem, inputs),
        stage_(storage_of(problem.dtype)),
        sink_(problem.has_sink() ? &inputs.sink.value() : nullptr),
        row_tiles_(head_tiles(tiling, problem.heads_q, &SequenceTiles::row_tiles)) {}

  void run(std::int64_t threads);

 private:
  ForwardTiles prepared() const;
  void process(const HeadTile& row_tile, ForwardTiles& tiles);
  void start(const RowSpan& rows, const ForwardTiles& tiles) const;
  void load_keys(const Block& block, const ForwardTiles& tiles) const;
  void process_block(const Block& block, ForwardTiles& tiles) const;
  void weigh(const Block& block, ForwardTiles& tiles) const;
  void weigh_row(std::int64_t i, std::int64_t columns, const ForwardTiles& tiles) const;
  void stage_row(std::int64_t i, std::int64_t columns, ForwardTiles& tiles) const;
  void finish(const RowSpan& rows, const ForwardTiles& tiles);

  const spec::AttentionProblem& problem_;
  ForwardResults results_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  spec::Extents queries_;
  Scores scores_;
  Rows value_, attention_;
  Statistics softmax_max_, softmax_sum_;
  Exclusion exclusion_;
  Dropout dropout_;
  tile::Storage stage_;
  const spec::Tensor* sink_;  ///< null without a sink
  HeadTiles row_tiles_;
};

ForwardTiles Forward::prepared() const {
  ForwardTiles tiles;
  Carver carver;
  carve(tiles, carver, tiling_, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, problem_);
  std::fill_n(tiles.ones, tiling_.columns, 1.0F);
  const auto elements = static_cast<std::size_t>(tiling_.rows * tiles.scores.stride);
  if (exclusion_.present()) tiles.excluded.resize(elements);
  if (dropout_.present()) tiles.dropped.resize(elements);
  tiles.staged.resize(static_cast<std::size_t>(tiling_.columns) * sizeof(float));
  return tiles;
}

void Forward::run(std::int64_t threads) {
  const auto work = [this](std::int64_t) {
    return [this, tiles = prepared()](const HeadTile& tile) mutable { process(tile, tiles); };
  };
  parallel::work_off([this] { return row_tiles_.next(); }, work, threads);
}

void Forward::process(const HeadTile& row_tile, ForwardTiles& tiles) {
  const SequenceTiles& sequence = tiling_.sequence(row_tile.b);
  const RowSpan rows = {.b = row_tile.b,
                        .n = row_tile.head,
                        .first = row_tile.index * sequence.rows,
                        .count = sequence.rows_of(row_tile.index)};
  start(rows, tiles);
  scores_.query().read(rows, tiles.query);
  const TileRange keys = sequence.keys_of(row_tile.index);
  for (std::int64_t k = keys.first; k < keys.last; ++k)
    process_block({.b = rows.b,
                   .n = rows.n,
                   .first_row = rows.first,
                   .rows = rows.count,
                   .first_column = k * tiling_.columns,
                   .columns = sequence.columns_of(k)},
                  tiles);
  finish(rows, tiles);
}

/// Initializes the softmax sums of the rows. If the problem has a sink, each sum starts with the
/// sink; the sink is the maximum so far, so its exponential is 1.
void Forward::start(const RowSpan& rows, const ForwardTiles& tiles) const {
  std::fill_n(tiles.max, rows.count, sink_ != nullptr ? sink_of(*sink_, rows.n) : nothing_yet);
  std::fill_n(tiles.sum, rows.count, sink_ != nullptr ? 1.0F : 0.0F);
  std::fill_n(tiles.output.at, rows.count * tiles.output.stride, 0.0F);
}

void Forward::load_keys(const Block& block, const ForwardTiles& tiles) const {
  const RowSpan keys = {.b = block.b,
                        .n = block.n / problem_.group(),
                        .first = block.first_column,
                        .count = block.columns};
  scores_.key().read(keys, tiles.key);
  value_.read(keys, tiles.value);
  transpose(tiles.key, keys.count, scores_.channels(), tiles.key_transposed);
}

/// Updates the maximum, sum and output of each row with the keys of one block.
void Forward::process_block(const Block& block, ForwardTiles& tiles) const {
  load_keys(block, tiles);
  scores_.compute(block, tiles.query, tiles.key_transposed, tiles.scores, tiles.bias);
  weigh(block, tiles);
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t d = 0; d < problem_.head_dim_v; ++d)
      tiles.output.row(i)[d] *= tiles.correction[i];
  multiply(kernels_,
           {.left = tiles.scores,
            .right = tiles.value,
            .rows = block.rows,
            .columns = problem_.head_dim_v,
            .depth = block.columns},
           tiles.output, tile::Sum::add);
}

/// Replaces each score of a block by exp(score - max), rounded to the tensor type. Masked and
/// dropped scores become 0.
void Forward::weigh(const Block& block, ForwardTiles& t) const {
  const std::int64_t stride = t.scores.stride;
  if (exclusion_.present()) exclusion_.read(block, stride, t.excluded.data());
  if (dropout_.present()) dropout_.read(block, stride, t.dropped.data());
  for (std::int64_t i = 0; i < block.rows; ++i) {
    weigh_row(i, block.columns, t);
    t.sum[i] = t.sum[i] * t.correction[i] + kernels_.dot(t.scores.row(i), t.ones, block.columns);
    stage_row(i, block.columns, t);
  }
}

void Forward::weigh_row(std::int64_t i, std::int64_t columns, const ForwardTiles& t) const {
  float* const score = t.scores.row(i);
  const std::uint8_t* const excluded =
      exclusion_.present() ? t.excluded.data() + i * t.scores.stride : nullptr;
  const auto is_kept = [&](std::int64_t j) { return excluded == nullptr || excluded[j] == 0; };
  float max = t.max[i];
  for (std::int64_t j = 0; j < columns; ++j) {
    score[j] *= scores_.scale();
    if (is_kept(j) && score[j] > max) max = score[j];
  }
  float step[tile::lanes] = {t.max[i] - max};
  kernels_.exponential(step, 1, step);
  t.correction[i] = t.max[i] == max ? 1 : step[0];
  t.max[i] = max;
  for (std::int64_t j = 0; j < columns; ++j) score[j] -= max;
  kernels_.exponential(score, columns, score);
  for (std::int64_t j = 0; j < columns; ++j)
    if (!is_kept(j)) score[j] = 0;
}

/// Rounds the weights to the tensor type before the product with value. The gradient rounds P in
/// the same way.
void Forward::stage_row(std::int64_t i, std::int64_t columns, ForwardTiles& t) const {
  float* const weight = t.scores.row(i);
  if (dropout_.present())
    for (std::int64_t j = 0; j < columns; ++j)
      if (t.dropped[static_cast<std::size_t>(i * t.scores.stride + j)] != 0) weight[j] = 0;
  kernels_.narrow(weight, dropout_.keep_factor(), columns, stage_, t.staged.data());
  kernels_.widen(t.staged.data(), stage_, columns, weight);
}

/// If the sum of a row is still 0, the row is fully masked and has no sink.
void Forward::finish(const RowSpan& rows, const ForwardTiles& t) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (t.sum[i] == 0) {
      t.max[i] = -largest, t.sum[i] = largest;
      continue;
    }
    for (std::int64_t d = 0; d < problem_.head_dim_v; ++d) t.output.row(i)[d] /= t.sum[i];
  }
  softmax_max_.write(rows, t.max, results_.softmax_max);
  softmax_sum_.write(rows, t.sum, results_.softmax_sum);
  attention_.write(rows, t.output, 1.0F, results_.attention_out);
}

}  // namespace

void compute_forward(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                     const ForwardResults& results, const Tiling& tiling,
                     const tile::Kernels& kernels, std::int64_t threads) {
  Forward(problem, inputs, results, tiling, kernels).run(threads);
}

void fill_dead_rows(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                    const ForwardResults& results) {
  fill(results.softmax_max, -largest);
  fill(results.softmax_sum, problem.has_sink() ? 1.0F : largest);
  fill_with_zeros(results.attention_out);
  if (!problem.has_sink()) return;
  const spec::Extents queries = dy_extents(problem);
  const Statistics max(problem, results.softmax_max, queries);
  for (std::int64_t n = 0; n < problem.heads_q; ++n) {
    const std::vector<float> sinks(static_cast<std::size_t>(problem.seq_q),
                                   sink_of(*inputs.sink, n));
    for (std::int64_t b = 0; b < problem.batch; ++b)
      max.write({.b = b, .n = n, .first = 0, .count = problem.length_q(b)}, sinks.data(),
                results.softmax_max);
  }
}

}  // namespace assay::optimized
