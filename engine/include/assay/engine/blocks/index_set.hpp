#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::engine {

/// The half-open range of integers first .. last - 1.
struct Range {
  std::int64_t first = 0, last = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

/// The attention pattern: the keys to which each row attends, and how often each pair (row, key)
/// occurs. Implementations must allow calls from several threads.
class IndexSet {
 public:
  IndexSet() = default;
  IndexSet(const IndexSet&) = delete;
  IndexSet& operator=(const IndexSet&) = delete;
  virtual ~IndexSet() = default;

  /// Returns a range that contains all keys to which the row attends.
  virtual Range reach(std::int64_t row) const = 0;
  /// Sets times[k] to the number of occurrences of the pair (row, key first + k). This number is
  /// never negative.
  virtual void counts(std::int64_t row, std::int64_t first, std::span<double> times) const = 0;
};

/// An attention pattern with one range of keys per row, for example all keys, a window, the keys
/// before a diagonal, or the keys of the row's sequence.
class Windows : public IndexSet {
 public:
  explicit Windows(std::vector<Range> of_rows) : of_rows_(std::move(of_rows)) {}
  /// Returns the pattern without a mask: every row attends to all keys.
  static Windows all(std::int64_t rows, std::int64_t keys) {
    return Windows(std::vector<Range>(static_cast<std::size_t>(rows), Range{0, keys}));
  }

  Range reach(std::int64_t row) const override { return of_rows_[static_cast<std::size_t>(row)]; }
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  std::vector<Range> of_rows_;
};

/// An attention pattern with a list of keys per row. A list may contain a key several times.
class Lists : public IndexSet {
 public:
  explicit Lists(std::vector<std::vector<std::int64_t>> of_rows);

  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  std::vector<std::vector<std::int64_t>> of_rows_;  ///< ascending
};

/// A part of another pattern: some of its rows and keys, renumbered from 0. Keeps references to the
/// other pattern and to the lists of rows and keys.
class Chosen : public IndexSet {
 public:
  Chosen(const IndexSet& all, std::span<const std::int64_t> rows,
         std::span<const std::int64_t> keys)
      : all_(all), rows_(rows), keys_(keys) {}

  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  const IndexSet& all_;
  std::span<const std::int64_t> rows_, keys_;
};

}  // namespace assay::engine
