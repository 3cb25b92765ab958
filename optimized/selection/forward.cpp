#include "selection/forward.hpp"

#include <algorithm>
#include <limits>

#include "assay/parallel/loop.hpp"
#include "host/work_list.hpp"
#include "operands/products.hpp"
#include "selection/lists.hpp"
#include "selection/row_numbers.hpp"

namespace assay::optimized::selected {
namespace {

using Problem = spec::SelectionProblem;

constexpr float largest = std::numeric_limits<float>::max();
constexpr float nothing_yet = -std::numeric_limits<float>::infinity();

constexpr std::int64_t tokens_per_tile = 16;

/// The buffers of one host thread. `weights` has one row per listed key and one column per query
/// head, so that keys need not be transposed.
struct ForwardTiles {
  Floats storage;
  std::vector<std::byte> staged;
  Tile query, query_transposed, key, value, weights, output;
  float *max = nullptr, *sum = nullptr;  ///< one per query head
};

void carve(ForwardTiles& t, Carver& carver, const Problem& p) {
  const std::int64_t group = p.group(), keys = p.selected_block_size;
  t.query = carver.tile(group, p.head_dim), t.query_transposed = carver.tile(p.head_dim, group);
  t.key = carver.tile(keys, p.head_dim), t.value = carver.tile(keys, p.head_dim_v);
  t.weights = carver.tile(keys * p.selected_block_count, group);
  t.output = carver.tile(group, p.head_dim_v);
  t.max = carver.line(group), t.sum = carver.line(group);
}

class Forward {
 public:
  Forward(const Problem& problem, const ForwardTensors& tensors, std::string_view requirement,
          const tile::Kernels& kernels)
      : problem_(problem),
        tensors_(tensors),
        kernels_(kernels),
        queries_(query_extents(problem)),
        query_(rows(tensors.query, queries_)),
        key_(rows(tensors.key, key_extents(problem))),
        value_(rows(tensors.value, value_extents(problem))),
        attention_(rows(tensors.attention_out, attention_out_extents(problem))),
        softmax_max_(tensors.softmax_max, queries_, kernels),
        softmax_sum_(tensors.softmax_sum, queries_, kernels),
        lists_(problem, tensors.topk_indices, requirement),
        scale_(static_cast<float>(problem.scale_value)),
        stage_(storage_of(problem.dtype)),
        token_tiles_(problem.batch, problem.heads_kv, [this](std::int64_t b) {
          return device::ceil_divide(queries_.length(b), tokens_per_tile);
        }) {}

  void run(std::int64_t threads);

 private:
  /// The position of a query token. The key head takes the place of the query head.
  using Token = spec::RowPosition;

  Rows rows(const spec::Tensor& tensor, const spec::Extents& extents) const {
    return {tensor, spec::Layout::tnd, extents, kernels_};
  }
  std::int64_t group() const { return problem_.group(); }
  std::int64_t keys() const { return problem_.selected_block_size; }
  RowSpan query_rows(const Token& at, std::int64_t g) const {
    return {.b = at.b, .n = at.n * group() + g, .first = at.s, .count = 1};
  }
  RowSpan listed_keys(const Token& at, std::int64_t slot) const {
    return {.b = at.b,
            .n = at.n,
            .first = lists_.block(at.b, at.n, at.s, slot) * keys(),
            .count = keys()};
  }
  /// Returns the rows of `weights` for one list entry.
  Tile weights(const ForwardTiles& tiles, std::int64_t slot) const {
    return {.at = tiles.weights.row(slot * keys()), .stride = tiles.weights.stride};
  }

  ForwardTiles prepared() const;
  void process_tile(const HeadTile& tile, ForwardTiles& tiles);
  void process(const Token& at, ForwardTiles& tiles);
  void scores(const Token& at, const ForwardTiles& tiles) const;
  void weigh(ForwardTiles& tiles) const;
  void finish(const Token& at, const ForwardTiles& tiles);

  const Problem& problem_;
  ForwardTensors tensors_;
  const tile::Kernels& kernels_;
  spec::Extents queries_;
  Rows query_, key_, value_, attention_;
  RowNumbers softmax_max_, softmax_sum_;
  Lists lists_;
  float scale_;
  tile::Storage stage_;
  HeadTiles token_tiles_;
};

ForwardTiles Forward::prepared() const {
  ForwardTiles tiles;
  Carver carver;
  carve(tiles, carver, problem_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, problem_);
  tiles.staged.resize(static_cast<std::size_t>(tiles.weights.stride) * sizeof(float));
  return tiles;
}

void Forward::run(std::int64_t threads) {
  const auto work = [this](std::int64_t) {
    return [this, tiles = prepared()](const HeadTile& tile) mutable { process_tile(tile, tiles); };
  };
  parallel::work_off([this] { return token_tiles_.next(); }, work, threads);
}

void Forward::process_tile(const HeadTile& tile, ForwardTiles& tiles) {
  const std::int64_t first = tile.index * tokens_per_tile;
  const std::int64_t last = std::min(first + tokens_per_tile, queries_.length(tile.b));
  for (std::int64_t token = first; token < last; ++token)
    process({tile.b, tile.head, token}, tiles);
}

void Forward::process(const Token& at, ForwardTiles& tiles) {
  scores(at, tiles);
  weigh(tiles);
  for (std::int64_t slot = 0; slot < lists_.slots(); ++slot) {
    value_.read(listed_keys(at, slot), tiles.value);
    multiply_transposed(kernels_,
                        {weights(tiles, slot), tiles.value, group(), problem_.head_dim_v, keys()},
                        tiles.output, slot == 0 ? tile::Sum::start : tile::Sum::extend);
  }
  finish(at, tiles);
}

/// Computes the scaled scores of all listed keys and the maximum for each query head. Scores of
/// masked keys are minus infinity.
void Forward::scores(const Token& at, const ForwardTiles& t) const {
  for (std::int64_t g = 0; g < group(); ++g)
    query_.read(query_rows(at, g), {.at = t.query.row(g), .stride = t.query.stride});
  transpose(t.query, group(), problem_.head_dim, t.query_transposed);
  std::fill_n(t.max, group(), nothing_yet);
  const bool causal = has_mask(problem_);
  for (std::int64_t slot = 0; slot < lists_.slots(); ++slot) {
    const RowSpan span = listed_keys(at, slot);
    const Tile block = weights(t, slot);
    key_.read(span, t.key);
    multiply(kernels_, {t.key, t.query_transposed, keys(), group(), problem_.head_dim}, block);
    for (std::int64_t j = 0; j < keys(); ++j)
      for (std::int64_t g = 0; g < group(); ++g) {
        float& score = block.row(j)[g];
        score = causal && span.first + j > at.s ? nothing_yet : score * scale_;
        t.max[g] = std::max(t.max[g], score);
      }
  }
}

/// Replaces the scores by probabilities, rounded to the tensor type. Probabilities of masked keys,
/// and of all keys in a fully masked row, are exactly zero.
void Forward::weigh(ForwardTiles& t) const {
  const std::int64_t rows = lists_.slots() * keys();
  std::fill_n(t.sum, group(), 0.0F);
  for (std::int64_t j = 0; j < rows; ++j) {
    float* const weight = t.weights.row(j);
    for (std::int64_t g = 0; g < group(); ++g)
      if (weight[g] != nothing_yet) weight[g] -= t.max[g];
    kernels_.exponential(weight, group(), weight);
    for (std::int64_t g = 0; g < group(); ++g) t.sum[g] += weight[g];
  }
  for (std::int64_t j = 0; j < rows; ++j) {
    float* const weight = t.weights.row(j);
    for (std::int64_t g = 0; g < group(); ++g)
      if (weight[g] != 0) weight[g] /= t.sum[g];
    kernels_.narrow(weight, 1, group(), stage_, t.staged.data());
    kernels_.widen(t.staged.data(), stage_, group(), weight);
  }
}

/// If the maximum of a row is still minus infinity, the row is fully masked.
void Forward::finish(const Token& at, const ForwardTiles& t) {
  for (std::int64_t g = 0; g < group(); ++g) {
    const Token row = {at.b, at.n * group() + g, at.s};
    const bool dead = t.max[g] == nothing_yet;
    softmax_max_.write(row, dead ? -largest : t.max[g], tensors_.softmax_max);
    softmax_sum_.write(row, dead ? largest : t.sum[g], tensors_.softmax_sum);
    attention_.write(query_rows(at, g), {.at = t.output.row(g), .stride = t.output.stride}, 1,
                     tensors_.attention_out);
  }
}

}  // namespace

void compute_forward(const Problem& problem, const ForwardTensors& tensors,
                     std::string_view requirement, const tile::Kernels& kernels,
                     std::int64_t threads) {
  Forward(problem, tensors, requirement, kernels).run(threads);
}

}  // namespace assay::optimized::selected
