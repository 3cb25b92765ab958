#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::engine {

/// first .. last - 1.
struct Range {
  std::int64_t first = 0, last = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

/// Which keys each row attends to, and how often a pair counts. Functions are called from several
/// threads.
class IndexSet {
 public:
  IndexSet() = default;
  IndexSet(const IndexSet&) = delete;
  IndexSet& operator=(const IndexSet&) = delete;
  virtual ~IndexSet() = default;

  /// Keys outside of which the row attends to nothing.
  virtual Range reach(std::int64_t row) const = 0;
  /// Fills how often the pairs of the row with keys first, first + 1, .. count; not negative.
  virtual void counts(std::int64_t row, std::int64_t first, std::span<double> times) const = 0;
};

/// Every row attends to the keys of one range of its own: all of them, a window, those before a
/// diagonal, those of its sequence.
class Windows : public IndexSet {
 public:
  explicit Windows(std::vector<Range> of_rows) : of_rows_(std::move(of_rows)) {}
  /// All rows attend to all keys.
  static Windows all(std::int64_t rows, std::int64_t keys) {
    return Windows(std::vector<Range>(static_cast<std::size_t>(rows), Range{0, keys}));
  }

  Range reach(std::int64_t row) const override { return of_rows_[static_cast<std::size_t>(row)]; }
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  std::vector<Range> of_rows_;
};

/// Every row has a list of keys, in which a key may stand several times.
class Lists : public IndexSet {
 public:
  explicit Lists(std::vector<std::vector<std::int64_t>> of_rows);

  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  std::vector<std::vector<std::int64_t>> of_rows_;  ///< ascending
};

/// Some rows and some keys of another set, each numbered from 0 on; refers to all three.
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
