#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/reference/mask.hpp"

namespace assay::conformance {

/// Says to which keys of its sequence a query attends, and how many times. With a mask this is
/// once; with a list of blocks it is the number of times that the list contains the key.
class KeyPattern {
 public:
  virtual ~KeyPattern() = default;

  /// Returns how many times query (b, n, i) attends to key j.
  virtual std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) const = 0;
  /// Sets times[k] = times(b, n, i, keys[k]) for all k. Returns whether at least one of them is not
  /// 0.
  virtual bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                     std::span<std::uint8_t> times) const = 0;

  /// Return keys that include all keys to which query (b, n, i) attends: the first function as a
  /// range, the second one as an ascending list.
  virtual reference::KeyRange range(const spec::RowPosition& query) const = 0;
  virtual std::vector<std::int64_t> keys(const spec::RowPosition& query) const = 0;
  /// Returns a range that contains all queries that attend to key j.
  virtual reference::QueryRange queries(std::int64_t b, std::int64_t j) const = 0;

  /// Returns the number of terms, masked pairs included, in the sums of a query of sequence b
  /// (first function) or of a key (second function).
  virtual std::int64_t entries_of_query(std::int64_t b) const = 0;
  virtual std::int64_t entries_of_key(const spec::RowPosition& key) const = 0;
  /// Returns the largest number of times that a query can attend to a key.
  virtual std::int64_t most_times() const = 0;
  /// Returns a number n such that every block of n keys (keys k n to k n + n - 1) has the same
  /// queries for all its keys; the largest known one, or 1.
  virtual std::int64_t keys_alike() const = 0;
};

}  // namespace assay::conformance
