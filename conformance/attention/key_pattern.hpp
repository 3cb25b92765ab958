#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/reference/mask.hpp"

namespace assay::conformance {

/// Which keys of their sequence the queries of a problem attend to, and how often: under a mask
/// once, by a list of blocks as often as it names them.
class KeyPattern {
 public:
  virtual ~KeyPattern() = default;

  /// How often query (b, n, i) attends to key j.
  virtual std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) const = 0;
  /// times[k] = times(b, n, i, keys[k]); whether one of them is not 0.
  virtual bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                     std::span<std::uint8_t> times) const = 0;

  /// A range, and keys in ascending order, that contain all to which query (b, n, i) attends.
  virtual reference::KeyRange range(const spec::RowPosition& query) const = 0;
  virtual std::vector<std::int64_t> keys(const spec::RowPosition& query) const = 0;
  /// Queries that contain all which attend to key j.
  virtual reference::QueryRange queries(std::int64_t b, std::int64_t j) const = 0;

  /// How many entries, seen or not, a query of sequence b sums, and how many a key.
  virtual std::int64_t entries_of_query(std::int64_t b) const = 0;
  virtual std::int64_t entries_of_key(const spec::RowPosition& key) const = 0;
  /// How often a query can attend to a key at most.
  virtual std::int64_t most_times() const = 0;
  /// Consecutive keys, from a multiple of their number on, that the same queries attend to; 1 where
  /// that is not known.
  virtual std::int64_t keys_alike() const = 0;
};

}  // namespace assay::conformance
