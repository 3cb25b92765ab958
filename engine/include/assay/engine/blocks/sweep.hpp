#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "assay/engine/algebra/element_row.hpp"
#include "assay/engine/blocks/index_set.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/tile.hpp"
#include "assay/engine/blocks/turns.hpp"
#include "assay/parallel/loop.hpp"

namespace assay::engine {

/// Receives consecutive rows of one output, in ascending order, from one thread.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Receives one row. The members of `row_sums` are 0 unless the class Streams computes these
  /// sums.
  virtual void take(std::int64_t row, const ElementRow& elements, const RowSums& row_sums) = 0;
  /// Called after the last row.
  virtual void close() {}
};

/// Receives the rows of all outputs of a formula. Each row arrives once, possibly from several
/// threads at the same time.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Returns an object that receives the rows `rows` of output number `sum`.
  virtual std::unique_ptr<RowSink> open(std::size_t sum, Range rows) = 0;
};

/// How the pairs of one head are divided into blocks and among threads. The bits of the result
/// depend on the block size but not on the number of threads.
struct BlockShape {
  std::int64_t rows = 192, keys = 96;                 ///< of a block; keys: a multiple of 32
  std::int64_t threads = 1;                           ///< 0: all of the machine
  Instructions instructions = Instructions::fastest;  ///< does not change the bits
  /// A bit mask of the outputs to compute: bit s stands for output number s.
  std::uint32_t wanted = ~std::uint32_t{0};
  /// Rows per group, for kernels that sum groups of rows separately and round each partial sum; 0
  /// means no groups. With groups, a block never contains rows of two groups, and
  /// `Element::partials` is filled.
  std::int64_t rows_of_part = 0;
};

/// Returns the number of right operands (second matrices) of a formula.
template <class Formula>
constexpr std::size_t right_operands() {
  if constexpr (requires { Formula::operands; })
    return Formula::operands;
  else
    return Formula::dots;
}

/// Evaluates a formula for all pairs (row, key) of one head, block by block. Each pair that `index`
/// contains is evaluated once, with the reading (evaluation class) of Streams, and is added to all
/// sums of the formula (engine/blocks/README.md, B4). A formula provides
///
///     symbols, dots, sides, coefficients    counts: numbers computed once per row; per pair:
///                                           dot products, other inputs, and coefficients
///     sums                                  the outputs, as SumOf
///     left(d), right(d)                     the operands of dot product d, as Rows; operands
///                                           right(d) with d >= dots occur only in sums
///     operands (optional)                   the number of right operands, if not `dots`
///     size(c)                               the usual maximum of |coefficient c|; sets the scale
///     side(k, row, first, numbers)          fills input k of the pairs of the row with the keys
///                                           first, first + 1, ...
///     units()                               the unit roundoffs of the kernel
///     drifts(), has_constants(), errs(k)    whether some rounding errors are known, constants of
///                                           the call are rounded (A13), number k of the row has
///                                           an error. If not, the terms for it are not summed
///     weights(sum, kind)                    weights of the operand's rows, for `RowSums`; or null
///     row_numbers(on, row)                  the numbers of a row: an array of `symbols` numbers
///     pair(on, row, numbers, dots, sides)   the coefficients of a pair: an array of Coefficient
///     read(instructions, block)             read_pairs, compiled for these instructions
///
/// Cost: matrix products of a block's size: 3 * dots, 2 of them in float, and 10 for every sum, 6
/// of them in float; for enclosures, 1 for each dot and sum, in double.
/// Errors: exceptions of the formula, the index set or the sink; std::bad_alloc.
template <class Streams, class Formula>
class BlockSweep {
 public:
  BlockSweep(const Formula& formula, const IndexSet& index, const BlockShape& shape, Sink& sink)
      : formula_(formula),
        index_(index),
        shape_(shape),
        sink_(sink),
        rows_(formula.left(0).rows),
        keys_(formula.right(0).rows),
        key_blocks_((keys_ + shape.keys - 1) / shape.keys),
        row_ranges_(row_ranges(rows_, shape)),
        row_blocks_(std::ssize(row_ranges_)),
        taken_(Streams::taken(formula)),
        streams_(static_cast<double>(std::max(shape.rows + row_blocks_, shape.keys + key_blocks_))),
        turns_(key_blocks_) {}

  void run() {
    prepare();
    parallel::work_off(
        parallel::numbers(row_blocks_), [this](std::int64_t) { return Worker(*this); },
        std::min(parallel::thread_count(shape_.threads), std::max<std::int64_t>(row_blocks_, 1)));
    finish_keys();
  }

 private:
  static constexpr std::size_t sums = Formula::sums.size(), operands = right_operands<Formula>();
  using RowSymbols = std::array<Symbol, Formula::symbols>;

  /// The accumulators of a block of rows of one output.
  struct Accumulators {
    std::int64_t columns = 0;
    std::array<std::vector<double>, Streams::doubles> in_double;
    std::array<std::vector<float>, Streams::floats_of_sum> in_float;
    std::vector<double> terms;
    std::vector<RowSums> row_sums;
    std::vector<double> before, partials;  ///< values at the end of the last part; sums of |part|

    Accumulators(std::int64_t rows, std::int64_t dim, std::size_t doubles,
                 const std::array<bool, Streams::doubles>& taken, bool in_parts)
        : columns(padded(dim)) {
      const auto count = static_cast<std::size_t>(rows * columns);
      for (std::size_t s = 0; s < doubles; ++s)
        if (taken[s]) in_double[s].resize(count);
      for (auto& stream : in_float) stream.resize(count);
      terms.resize(static_cast<std::size_t>(rows));
      row_sums.resize(static_cast<std::size_t>(rows));
      for (auto* values : {&before, &partials})
        if (in_parts) values->resize(count);
    }
    void clear() {
      for (auto& stream : in_double) std::ranges::fill(stream, 0.0);
      for (auto& stream : in_float) std::ranges::fill(stream, 0.0F);
      std::ranges::fill(terms, 0.0);
      std::ranges::fill(row_sums, RowSums{});
    }
    /// Called after the last row of a group that a kernel sums separately. Adds the absolute value
    /// of the group's partial sum to `partials`.
    void end_part() {
      for (std::size_t at = 0; at < partials.size(); ++at) {
        partials[at] += std::abs(in_double[0][at] - before[at]);
        before[at] = in_double[0][at];
      }
    }
  };

  static std::vector<Range> row_ranges(std::int64_t rows, const BlockShape& shape) {
    const std::int64_t part = shape.rows_of_part > 0 ? shape.rows_of_part : rows;
    std::vector<Range> ranges;
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t end = std::min(rows, (first / part + 1) * part);
      ranges.push_back({first, std::min(end, first + shape.rows)});
      first = ranges.back().last;
    }
    return ranges;
  }
  bool is_wanted(std::size_t sum) const { return (shape_.wanted >> sum & 1) != 0; }
  bool is_wanted(std::size_t sum, bool within) const {
    return Formula::sums[sum].within == within && is_wanted(sum);
  }

  /// A block of keys, packed as right operands: transposed for dot products, and untransposed for
  /// sums over the keys of a row.
  struct KeyBlock {
    std::array<Panels, Formula::dots> transposed;
    std::array<Panels, operands> plain;
  };

  Range keys_of(std::int64_t key_block) const {
    return {key_block * shape_.keys, std::min(keys_, (key_block + 1) * shape_.keys)};
  }
  Rows operand_of(std::size_t sum) const {
    const SumOf& of = Formula::sums[sum];
    return of.within ? formula_.right(of.operand) : formula_.left(of.operand);
  }

  void prepare() {
    for (std::size_t d = 0; d < Formula::dots; ++d) left_scales_[d] = scales_of(formula_.left(d));
    for (std::size_t d = 0; d < operands; ++d) right_scales_[d] = scales_of(formula_.right(d));
    for (std::size_t c = 0; c < Formula::coefficients; ++c)
      coefficient_scales_[c] = coefficient_scales_of(formula_.size(c));
    find_reaches();
    over_.resize(place(key_blocks_));
    if (!keeps_keys()) return;
    key_blocks_data_.resize(static_cast<std::size_t>(key_blocks_));
    parallel::for_each(
        key_blocks_, [this](std::int64_t k) { pack(k, key_blocks_data_[place(k)]); },
        shape_.threads);
  }

  /// Finds the keys that each block of rows reaches, and the block of rows after which a block of
  /// keys is complete.
  void find_reaches() {
    complete_after_.resize(place(key_blocks_));
    for (std::int64_t r = 0; r < row_blocks_; ++r) {
      const Range rows = row_ranges_[place(r)];
      Range reach = {keys_, 0};
      for (std::int64_t i = rows.first; i < rows.last; ++i) {
        const Range of_row = index_.reach(i);
        if (of_row.first >= of_row.last) continue;
        reach = {std::min(reach.first, of_row.first), std::max(reach.last, of_row.last)};
      }
      reaches_.push_back(reach);
    }
    for (std::int64_t k = 0; k < key_blocks_; ++k) {
      std::int64_t last = row_blocks_ - 1;
      while (last > 0 && !reaches(last, k)) --last;
      while (last + 1 < row_blocks_ && !ends_part(last)) ++last;
      complete_after_[place(k)] = last;
    }
  }
  bool reaches(std::int64_t row_block, std::int64_t key_block) const {
    const Range keys = keys_of(key_block), reach = reaches_[place(row_block)];
    return keys.first < reach.last && keys.last > reach.first;
  }
  /// Returns whether the block of rows is the last one of a group that a kernel sums separately.
  /// Without groups, each block is.
  bool ends_part(std::int64_t row_block) const {
    const std::int64_t part = shape_.rows_of_part, last = row_ranges_[place(row_block)].last;
    return part <= 0 || last % part == 0 || last == rows_;
  }

  static std::size_t place(std::int64_t k) { return static_cast<std::size_t>(k); }

  /// Returns whether all packed keys stay in memory. Their memory is up to 48 bytes per element. A
  /// large head has many row blocks, and each of them packs the keys again, which takes about 2 %
  /// of its time.
  bool keeps_keys() const {
    constexpr std::int64_t kept_elements = std::int64_t{1} << 20;
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < operands; ++d) elements += keys_ * formula_.right(d).dim;
    return elements <= kept_elements;
  }

  void pack(std::int64_t k, KeyBlock& block) const {
    const auto [first, last] = keys_of(k);
    for (std::size_t d = 0; d < operands; ++d) {
      const Rows right = formula_.right(d);
      if (d < Formula::dots)
        block.transposed[d] = transposed_panels_of(right, first, last - first, padded(last - first),
                                                   right_scales_[d], Streams::bounds);
      const bool summed = std::ranges::any_of(
          Formula::sums, [d](const SumOf& sum) { return sum.within && sum.operand == d; });
      if (summed)
        block.plain[d] = panels_of(right, first, last - first, right_scales_[d], Streams::bounds);
    }
  }

  /// Processes row blocks in one thread, with its own buffers.
  class Worker {
   public:
    explicit Worker(BlockSweep& of)
        : of_(of),
          tile_(std::min(of.shape_.rows, of.rows_), std::min(of.shape_.keys, of.keys_), of.taken_,
                of.shape_.instructions) {
      for (std::size_t s = 0; s < sums; ++s)
        if (of.is_wanted(s, true))
          within_[s].emplace(std::min(of.shape_.rows, of.rows_), of.operand_of(s).dim,
                             Streams::doubles_within, of.taken_, false);
    }

    /// Processes one block of rows against all keys.
    void operator()(std::int64_t row_block) {
      TurnsOfBlock turns(of_.turns_, row_block);
      const Range rows = of_.row_ranges_[static_cast<std::size_t>(row_block)];
      begin(rows);
      for (std::int64_t k = 0; k < of_.key_blocks_; ++k) {
        const Range keys = of_.keys_of(k);
        const bool met = of_.reaches(row_block, k) && tile_.count_pairs(of_.index_, rows, keys);
        if (met) {
          const KeyBlock& block = packed(k);
          fill(rows, keys, block);
          add_within(rows, keys, block);
        }
        turns.take([&] {
          if (met) add_over(rows, keys, k);
          if (of_.shape_.rows_of_part > 0 && of_.ends_part(row_block)) end_part(k);
          // Blocks of keys that are complete only at the end are finished by all threads.
          if (of_.complete_after_[place(k)] == row_block && row_block + 1 < of_.row_blocks_)
            of_.finish_keys(k);
        });
      }
      finish(rows);
    }

   private:
    const KeyBlock& packed(std::int64_t k) {
      if (!of_.key_blocks_data_.empty()) return of_.key_blocks_data_[place(k)];
      of_.pack(k, own_keys_);
      return own_keys_;
    }
    void begin(Range rows) {
      const std::int64_t count = rows.last - rows.first;
      for (std::size_t d = 0; d < Formula::dots; ++d) {
        const Rows left = of_.formula_.left(d);
        left_[d] = left_rows_of(left, rows.first, count, of_.left_scales_[d], Streams::bounds);
        panels_[d] = panels_of(left, rows.first, count, of_.left_scales_[d], Streams::bounds);
      }
      for (auto& sum : within_)
        if (sum) sum->clear();
      tile_.rows.clear();
      const typename Streams::RowReading on(of_.formula_.units(), {});
      for (std::int64_t i = rows.first; i < rows.last; ++i)
        tile_.rows.push_back(row_of(of_.formula_.row_numbers(on, i)));
    }

    template <class Numbers>
    static TileRow<Formula::symbols> row_of(const Numbers& numbers) {
      TileRow<Formula::symbols> row;
      for (std::size_t k = 0; k < Formula::symbols; ++k) {
        row.numbers[k] = numbers[k].value;
        row.symbols_of[k] = symbol_of(numbers[k]);
      }
      return row;
    }

    void fill(Range rows, Range keys, const KeyBlock& block) {
      for (std::size_t d = 0; d < Formula::dots; ++d) {
        const Rows left = of_.formula_.left(d);
        tile_.multiply_dot(d, left_[d], rows.last - rows.first, block.transposed[d]);
        const double unscaled = of_.left_scales_[d].magnitude * of_.right_scales_[d].magnitude;
        const double squares = of_.left_scales_[d].square * of_.right_scales_[d].square;
        tile_.set_dot_scales(d, left.dim, unscaled, squares);
      }
      tile_.fill(of_.formula_, of_.streams_, of_.coefficient_scales_, rows, keys);
    }

    void add_within(Range rows, Range keys, const KeyBlock& block) {
      for (std::size_t s = 0; s < sums; ++s) {
        if (!within_[s]) continue;
        tile_.add(s, rows.last - rows.first, keys.last - keys.first,
                  block.plain[Formula::sums[s].operand], scales_of_coefficient(s), *within_[s]);
        tile_.add_terms_of_rows(within_[s]->terms);
        if constexpr (Streams::takes_sides) tile_.add_sides_of_rows(s, within_[s]->row_sums);
      }
    }

    void add_over(Range rows, Range keys, std::int64_t key_block) {
      const std::int64_t count = keys.last - keys.first;
      for (std::size_t s = 0; s < sums; ++s) {
        if (!of_.is_wanted(s, false)) continue;
        Accumulators& sum = of_.sums_over_rows(s, key_block);
        tile_.add(s, rows.last - rows.first, count, panels_[Formula::sums[s].operand],
                  scales_of_coefficient(s), sum);
        tile_.add_terms_of_keys(sum.terms, count);
        if constexpr (Streams::takes_sides) tile_.add_sides_of_keys(s, sum.row_sums, count);
      }
    }
    const CoefficientScales& scales_of_coefficient(std::size_t s) const {
      return of_.coefficient_scales_[Formula::sums[s].coefficient];
    }
    void end_part(std::int64_t key_block) {
      for (auto& sum : of_.over_[place(key_block)])
        if (sum) sum->end_part();
    }

    void finish(Range rows) {
      for (std::size_t s = 0; s < sums; ++s) {
        if (!within_[s]) continue;
        const auto sink = of_.sink_.open(s, rows);
        ElementRow elements(static_cast<std::size_t>(of_.operand_of(s).dim));
        for (std::int64_t r = 0; r < rows.last - rows.first; ++r)
          of_.finish_row(s, *within_[s], r, rows.first + r,
                         tile_.rows[static_cast<std::size_t>(r)].symbols_of, elements, *sink);
        sink->close();
      }
    }

    BlockSweep& of_;
    Tile<Streams, Formula> tile_;
    std::array<LeftRows, Formula::dots> left_;
    std::array<Panels, Formula::dots> panels_;
    std::array<std::optional<Accumulators>, sums> within_;
    KeyBlock own_keys_;  ///< packed for the current block
  };

  /// Passes one finished row of an output to the receiver `sink` (engine/blocks/README.md, B1).
  /// `elements` is a buffer; r is the row's index in the accumulators.
  void finish_row(std::size_t s, const Accumulators& sum, std::int64_t r, std::int64_t row,
                  const RowSymbols& of_row, ElementRow& elements, RowSink& sink) {
    const SumOf& of = Formula::sums[s];
    const Scales& operand = of.within ? right_scales_[of.operand] : left_scales_[of.operand];
    const CoefficientScales& scales = coefficient_scales_[of.coefficient];
    // `chain` is the number of fused multiply-adds per element within one block, plus the number of
    // blocks. `lost` is the largest error by underflow.
    const double chain =
        static_cast<double>(of.within ? std::min(keys_, shape_.keys) + key_blocks_
                                      : std::min(rows_, shape_.rows) + row_blocks_);
    const double slack = 1 + (chain + 8) * 0x1p-24;
    const double terms = sum.terms[static_cast<std::size_t>(r)];
    const double lost = terms == 0 ? 0 : static_cast<double>(of.within ? keys_ : rows_) * 0x1p-148;
    // Scales are powers of two, so a multiplication by a finite inverse gives the same bits as a
    // division.
    std::array<double, Streams::floats_of_sum> by_scale{};
    std::array<double, Streams::floats_of_sum> inverse{};
    bool is_invertible = true;
    for (std::size_t k = 0; k < by_scale.size(); ++k) {
      const std::size_t stream = of.within ? Streams::floats_within[k] : Streams::floats_over[k];
      by_scale[k] = Streams::squared[stream] ? scales.squared * operand.square
                                             : scales.linear * operand.magnitude;
      inverse[k] = 1 / by_scale[k];
      is_invertible = is_invertible && std::isnormal(by_scale[k]) && std::isnormal(inverse[k]);
    }
    for (std::size_t d = 0; d < elements.size(); ++d) {
      const std::size_t at = static_cast<std::size_t>(r * sum.columns) + d;
      std::array<double, Streams::doubles> in_double{};
      std::array<double, Streams::floats_of_sum> in_float{};
      for (std::size_t k = 0; k < in_double.size(); ++k)
        if (!sum.in_double[k].empty()) in_double[k] = sum.in_double[k][at];
      for (std::size_t k = 0; k < in_float.size(); ++k) {
        const double scaled = slack * static_cast<double>(sum.in_float[k][at]) + lost;
        in_float[k] = is_invertible ? scaled * inverse[k] : scaled / by_scale[k];
      }
      Element element =
          of.within ? Streams::element_within(in_double.data(), in_float.data(), terms, of_row)
                    : Streams::element_of(in_double.data(), in_float.data(), terms);
      if (!sum.partials.empty()) element.partials = sum.partials[at];
      elements.put(d, element);
    }
    sink.take(row, elements, sum.row_sums[static_cast<std::size_t>(r)]);
  }

  /// Returns the sums over rows for the keys of a block. They begin with 0.
  Accumulators& sums_over_rows(std::size_t s, std::int64_t key_block) {
    auto& sum = over_[place(key_block)][s];
    const Range keys = keys_of(key_block);
    if (!sum)
      sum = std::make_unique<Accumulators>(keys.last - keys.first, operand_of(s).dim,
                                           Streams::doubles_over, taken_, shape_.rows_of_part > 0);
    return *sum;
  }

  /// Finishes the blocks of keys that were not complete before.
  void finish_keys() {
    parallel::for_each(
        key_blocks_,
        [this](std::int64_t k) {
          if (complete_after_[place(k)] + 1 >= row_blocks_) finish_keys(k);
        },
        shape_.threads);
  }

  void finish_keys(std::int64_t key_block) {
    const Range keys = keys_of(key_block);
    for (std::size_t s = 0; s < sums; ++s) {
      if (!is_wanted(s, false)) continue;
      const auto sink = sink_.open(s, keys);
      ElementRow elements(static_cast<std::size_t>(operand_of(s).dim));
      for (std::int64_t j = keys.first; j < keys.last; ++j)
        finish_row(s, sums_over_rows(s, key_block), j - keys.first, j, {}, elements, *sink);
      sink->close();
    }
    over_[place(key_block)] = {};
  }

  const Formula& formula_;
  const IndexSet& index_;
  BlockShape shape_;
  Sink& sink_;
  std::int64_t rows_, keys_, key_blocks_;
  std::vector<Range> row_ranges_;
  std::int64_t row_blocks_;
  std::array<bool, Streams::doubles> taken_;
  Streams streams_;
  Turns turns_;
  std::array<Scales, Formula::dots> left_scales_;
  std::array<Scales, operands> right_scales_;
  std::array<CoefficientScales, Formula::coefficients> coefficient_scales_;
  std::vector<Range> reaches_;                ///< of each block of rows
  std::vector<std::int64_t> complete_after_;  ///< for each block of keys: a block of rows
  /// For each block of keys: its sums over rows, from the first row that reaches it until it is
  /// complete.
  std::vector<std::array<std::unique_ptr<Accumulators>, sums>> over_;
  std::vector<KeyBlock> key_blocks_data_;
};

}  // namespace assay::engine
