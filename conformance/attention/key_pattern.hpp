#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/reference/mask.hpp"

namespace assay::conformance {

/// Says to which keys of its sequence a query attends, and how often. A mask allows each key once;
/// a list of blocks may contain a key several times.
class KeyPattern {
 public:
  virtual ~KeyPattern() = default;

  /// Returns how many times query (b, n, i) attends to key j.
  virtual std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) const = 0;
  /// Sets times[k] to the number of times that the query attends to key keys[k]. Returns whether at
  /// least one number is not 0.
  virtual bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                     std::span<std::uint8_t> times) const = 0;

  /// Return keys that include all keys to which query (b, n, i) attends. range() returns a range,
  /// keys() an ascending list.
  virtual reference::KeyRange range(const spec::RowPosition& query) const = 0;
  virtual std::vector<std::int64_t> keys(const spec::RowPosition& query) const = 0;
  /// Returns a range that includes all queries that attend to key j.
  virtual reference::QueryRange queries(std::int64_t b, std::int64_t j) const = 0;

  /// Returns the number of terms in the sums of a query of sequence b, including masked pairs.
  /// entries_of_key() returns the same for a key.
  virtual std::int64_t entries_of_query(std::int64_t b) const = 0;
  virtual std::int64_t entries_of_key(const spec::RowPosition& key) const = 0;
  /// Returns the largest number of times that a query can attend to the same key.
  virtual std::int64_t most_times() const = 0;
  /// Returns a number n such that all keys of a block (keys k n to k n + n - 1) are attended to by
  /// the same queries. Returns the largest known n, or 1.
  virtual std::int64_t keys_alike() const = 0;
};

}  // namespace assay::conformance
