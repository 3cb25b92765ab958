#include "nsa_compress_grad/kernel.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "assay/parallel/loop.hpp"
#include "operands/rows.hpp"

namespace assay::optimized::compress {
namespace {

using Op = spec::NsaCompressGrad;

/// An independent unit of work: one part of the tokens, with one slice of the channels of a head.
struct Item {
  std::int64_t part, n, slice;
};

/// The work that a thread takes at a time: a range of columns in one part of the tokens. Here a
/// column is a pair of a head and a slice of its channels; the columns are numbered.
struct Share {
  std::int64_t part, first, last;
};

/// Size limit (bytes) for the partial sums (chains of fused multiply-adds), so that the L1 or L2
/// cache can hold them together with the tiles.
constexpr std::int64_t chains_bytes = std::int64_t{1} << 17;
/// Number of shares (pieces of work) per thread. With small shares, threads wait only shortly for
/// the last one.
constexpr std::int64_t shares_per_thread = 4;
/// Number of rows that are processed for all heads of a share before the next rows, so that memory
/// is accessed almost in order.
constexpr std::int64_t rows_at_once = 4;
/// Size limit of input_grad (bytes). A larger input_grad is written with streaming stores, because
/// the caches would drop it before anything reads it.
constexpr std::size_t streamed_bytes = std::size_t{1} << 24;

/// One run of the gradient. Units of work are independent: each writes its own tokens and its own
/// partial sums, one per weight. At the end, the run adds the partial sums.
class Gradient {
 public:
  Gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
           const Execution& execution)
      : problem_(problem),
        inputs_(inputs),
        outputs_(outputs),
        tiling_(execution.tiling),
        kernels_(execution.kernels),
        workspace_(execution.workspace),
        threads_(execution.threads),
        width_(width()) {
    cut_channels(inputs.input, tiling_.windows.token_ends(), input_);
    cut_channels(inputs.output_grad, tiling_.windows.window_ends(), output_grad_);
    cut_channels(outputs.input_grad, tiling_.windows.token_ends(), input_grad_);
    in_place_ = input_[0].stored({}).has_value() && input_grad_[0].stored({}).has_value();
  }

  void run();

 private:
  std::int64_t width() const;
  void cut_channels(const spec::Tensor& tensor, const std::vector<std::int64_t>& ends,
                    std::vector<Rows>& slices) const;
  ThreadTiles& prepare(std::int64_t thread) const;
  void load_weights();
  std::int64_t columns() const { return problem_.heads * tiling_.slices; }
  std::int64_t shares() const { return tiling_.parts * device::ceil_divide(columns(), width_); }
  Share share(std::int64_t number) const;
  void process(const Share& share, ThreadTiles& tiles);
  /// Processes a tile directly in the tensors, which requires that the channels of a row are
  /// adjacent. Otherwise, add_copied processes the tile in buffers.
  void add_in_place(const Share& share, const TokenRange& tile, ThreadTiles& tiles);
  void add_copied(const Item& item, const TokenRange& tile, const ThreadTiles& tiles,
                  const Tile& chains);
  void read(const Rows& slice, const RowSpan& rows, const Tile& to) const;
  void read_output_grad(const Item& item, const TokenRange& tile, const Tile& to) const;
  void add_windows(const TokenRange& tile, std::span<const Column> columns, bool streamed) const;
  void store_weights() const;

  /// Returns the unit of work for one column of a share. (A share is the work that a thread takes
  /// at a time.) The next function returns the partial sums of this unit.
  Item item(const Share& share, std::int64_t column) const {
    return {.part = share.part, .n = column / tiling_.slices, .slice = column % tiling_.slices};
  }
  Tile chains(const Share& share, std::int64_t column, const ThreadTiles& tiles) const {
    const std::int64_t row = (column - share.first) * tiling_.windows.size();
    return {.at = tiles.chains.row(row), .stride = tiles.chains.stride};
  }
  /// Returns the weights of a head. They are contiguous in memory.
  float* weights(std::int64_t n) const {
    return weights_ + n * padded(problem_.compress_block_size);
  }
  /// Returns the partial sums of a unit of work, one per weight.
  float* sums(const Item& item) const {
    const std::int64_t partial = item.part * tiling_.slices + item.slice;
    return sums_ + (item.n * tiling_.partials() + partial) * problem_.compress_block_size;
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  Op::Outputs& outputs_;
  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  Workspace& workspace_;
  std::int64_t threads_;
  std::int64_t width_;  ///< columns per share
  bool in_place_;       ///< true: channels of a row are adjacent in input and input_grad
  std::vector<Rows> input_, output_grad_, input_grad_;  // one per slice
  float* weights_ = nullptr;
  float* sums_ = nullptr;
};

void Gradient::cut_channels(const spec::Tensor& tensor, const std::vector<std::int64_t>& ends,
                            std::vector<Rows>& slices) const {
  const Rows rows(tensor, spec::Layout::tnd,
                  {.batch = problem_.batch,
                   .heads = problem_.heads,
                   .seq = 0,
                   .dim = problem_.head_dim,
                   .ends = ends},
                  kernels_);
  for (std::int64_t slice = 0; slice < tiling_.slices; ++slice)
    slices.push_back(
        rows.channels(slice * tiling_.channels, tiling_.channels_of(slice, problem_.head_dim)));
}

/// Returns the number of columns (pairs of head and slice) in a share. Neighbouring heads are
/// adjacent in memory and can be in the same cache line. The more heads a share has, the fewer
/// bytes of a cache line belong to other shares.
std::int64_t Gradient::width() const {
  const std::int64_t chain = tiling_.windows.size() * tile::lanes * std::int64_t{sizeof(float)};
  const std::int64_t even =
      device::ceil_divide(tiling_.parts * columns(), shares_per_thread * threads_);
  return std::clamp<std::int64_t>(std::min(chains_bytes / chain, even), 1, columns());
}

void carve(ThreadTiles& t, Carver& carver, const Tiling& tiling, std::int64_t columns) {
  t.input = carver.tile(tiling.tokens, tiling.channels);
  t.output_grad =
      carver.tile(columns * std::max<std::int64_t>(1, tiling.most_windows), tiling.channels);
  t.input_grad = carver.tile(tiling.tokens, tiling.channels);
  t.chains = {.at = carver.line(columns * tiling.windows.size() * tile::lanes),
              .stride = tile::lanes};
}

ThreadTiles& Gradient::prepare(std::int64_t thread) const {
  ThreadTiles& tiles = workspace_.threads[static_cast<std::size_t>(thread)];
  Carver carver;
  carve(tiles, carver, tiling_, width_);
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling_, width_);
  return tiles;
}

/// Reads rows and clears the vector lanes after the last channel of the slice. The sums include
/// these lanes, and a wider slice or an earlier run may have left values in them.
void Gradient::read(const Rows& slice, const RowSpan& rows, const Tile& to) const {
  slice.read(rows, to);
  const std::int64_t rest = -slice.dim() & (tile::lanes - 1);
  for (std::int64_t i = 0; i < rows.count && rest > 0; ++i)
    std::fill_n(to.row(i) + slice.dim(), rest, 0.0F);
}

void Gradient::load_weights() {
  const spec::Tensor& weight = inputs_.weight;
  weights_ = workspace_.weights.reserve(problem_.heads * padded(problem_.compress_block_size));
  for (std::int64_t w = 0; w < problem_.compress_block_size; ++w)
    for (std::int64_t n = 0; n < problem_.heads; ++n)
      weights(n)[w] = static_cast<float>(
          weight.load(weight.offset + w * weight.strides[0] + n * weight.strides[1]));
}

Share Gradient::share(std::int64_t number) const {
  const std::int64_t in_part = device::ceil_divide(columns(), width_);
  const std::int64_t first = number % in_part * width_;
  return {.part = number / in_part, .first = first, .last = std::min(first + width_, columns())};
}

void Gradient::run() {
  load_weights();
  sums_ =
      workspace_.sums.reserve(problem_.heads * tiling_.partials() * problem_.compress_block_size);
  const auto count = static_cast<std::size_t>(threads_);
  if (workspace_.threads.size() < count) workspace_.threads.resize(count);
  const auto work = [this](std::int64_t thread) {
    return [this, &tiles = prepare(thread)](std::int64_t k) { process(share(k), tiles); };
  };
  parallel::work_off(parallel::numbers(shares()), work, threads_);
  store_weights();
}

void Gradient::process(const Share& share, ThreadTiles& tiles) {
  const std::int64_t size = problem_.compress_block_size;
  std::fill_n(tiles.chains.at, (share.last - share.first) * size * tiles.chains.stride, 0.0F);
  PartTiles part(tiling_, share.part);
  while (const auto tile = part.next()) {
    if (in_place_)
      add_in_place(share, *tile, tiles);
    else
      for (std::int64_t column = share.first; column < share.last; ++column)
        add_copied(item(share, column), *tile, tiles, chains(share, column, tiles));
  }
  // Makes the streaming stores visible before another thread sees that this share (piece of work)
  // is done.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::int64_t column = share.first; column < share.last; ++column)
    for (std::int64_t w = 0; w < size; ++w)
      sums(item(share, column))[w] = kernels_.sum_of_lanes(chains(share, column, tiles).row(w));
}

void Gradient::read_output_grad(const Item& item, const TokenRange& tile, const Tile& to) const {
  const WindowRange over = tiling_.windows.over(tile);
  read(output_grad_[static_cast<std::size_t>(item.slice)],
       {.b = tile.b, .n = item.n, .first = over.first, .count = over.count()}, to);
}

void Gradient::add_in_place(const Share& share, const TokenRange& tile, ThreadTiles& tiles) {
  tiles.columns.clear();
  for (std::int64_t column = share.first; column < share.last; ++column) {
    const Item of = item(share, column);
    const auto slice = static_cast<std::size_t>(of.slice);
    const RowSpan tokens = {.b = tile.b, .n = of.n, .first = tile.first, .count = tile.count()};
    const StoredRows input = *input_[slice].stored(tokens);
    const StoredRows input_grad = *input_grad_[slice].stored(tokens);
    const std::int64_t row =
        (column - share.first) * std::max<std::int64_t>(1, tiling_.most_windows);
    const Tile output_grad = {.at = tiles.output_grad.row(row), .stride = tiles.output_grad.stride};
    read_output_grad(of, tile, output_grad);
    tiles.columns.push_back(
        {.n = of.n,
         .channels = tiling_.channels_of(of.slice, problem_.head_dim),
         .rows = {.input = inputs_.input.bytes.data() + input.offset,
                  .input_grad = outputs_.input_grad.bytes.data() + input_grad.offset,
                  .input_step = input.step,
                  .input_grad_step = input_grad.step,
                  .storage = input.storage},
         .output_grad = output_grad,
         .chains = chains(share, column, tiles)});
  }
  add_windows(tile, tiles.columns, outputs_.input_grad.bytes.size() > streamed_bytes);
}

void Gradient::add_copied(const Item& item, const TokenRange& tile, const ThreadTiles& tiles,
                          const Tile& chains) {
  const auto slice = static_cast<std::size_t>(item.slice);
  const RowSpan tokens = {.b = tile.b, .n = item.n, .first = tile.first, .count = tile.count()};
  constexpr auto step = static_cast<std::int64_t>(sizeof(float));
  read(input_[slice], tokens, tiles.input);
  read_output_grad(item, tile, tiles.output_grad);
  const Column column = {.n = item.n,
                         .channels = tiling_.channels_of(item.slice, problem_.head_dim),
                         .rows = {.input = reinterpret_cast<const std::byte*>(tiles.input.at),
                                  .input_grad = reinterpret_cast<std::byte*>(tiles.input_grad.at),
                                  .input_step = tiles.input.stride * step,
                                  .input_grad_step = tiles.input_grad.stride * step,
                                  .storage = tile::Storage::fp32},
                         .output_grad = tiles.output_grad,
                         .chains = chains};
  add_windows(tile, {&column, 1}, false);
  input_grad_[slice].write_even(tokens, tiles.input_grad, outputs_.input_grad);
}

/// Consecutive tokens in the same windows need only two matrix products: weights times output_grad
/// for input_grad, and input times output_grad for weight_grad.
void Gradient::add_windows(const TokenRange& tile, std::span<const Column> columns,
                           bool streamed) const {
  const Windows& windows = tiling_.windows;
  const std::int64_t first_window = windows.over(tile).first;
  TokenRange some;
  for (TokenRange rest = tile; rest.count() > 0; rest.first = some.last) {
    some = windows.alike(rest);
    some.last = std::min(some.last, some.first + rows_at_once);
    const WindowRange over = windows.over(some);
    const std::int64_t weight = some.first - over.first * windows.stride();
    for (const Column& column : columns) {
      const TokenRows rows = column.rows.from(some.first - tile.first);
      kernels_.add_windows({.input = rows.input,
                            .input_grad = rows.input_grad,
                            .input_row = rows.input_step,
                            .input_grad_row = rows.input_grad_step,
                            .storage = rows.storage,
                            .streamed = streamed,
                            .output_grad = column.output_grad.row(over.first - first_window),
                            .output_grad_row = column.output_grad.stride,
                            .weights = weights(column.n) + weight,
                            .chains = column.chains.row(weight),
                            .window_step = -windows.stride(),
                            .rows = some.count(),
                            .windows = over.count(),
                            .channels = column.channels});
    }
  }
}

void Gradient::store_weights() const {
  spec::Tensor& gradient = outputs_.weight_grad;
  const tile::Storage storage = storage_of(gradient.dtype);
  const std::int64_t element = spec::size_of(gradient.dtype);
  for (std::int64_t n = 0; n < problem_.heads; ++n) {
    const float* const partials = sums({.part = 0, .n = n, .slice = 0});
    for (std::int64_t w = 0; w < problem_.compress_block_size; ++w) {
      float sum = partials[w];
      for (std::int64_t k = 1; k < tiling_.partials(); ++k)
        sum += partials[k * problem_.compress_block_size + w];
      const std::int64_t at = gradient.offset + w * gradient.strides[0] + n * gradient.strides[1];
      kernels_.narrow_even(&sum, 1, storage, gradient.bytes.data() + at * element);
    }
  }
}

}  // namespace

void compute_gradient(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
                      const Execution& execution) {
  Gradient(problem, inputs, outputs, execution).run();
}

}  // namespace assay::optimized::compress
