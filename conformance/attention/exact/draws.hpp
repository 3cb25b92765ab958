#pragma once

#include <cstdint>

#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance::exact {

/// A sequence of random numbers for one purpose. The numbers depend only on the parent generator
/// and the index.
class Draws {
 public:
  Draws(const Random& parent, std::uint64_t index)
      : random_(parent.bits(index), static_cast<std::uint64_t>(Stream::exact_case)) {}

  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return random_.integer(next_++, first, last);
  }
  /// Returns true with probability 1 / out_of.
  bool one_in(std::int64_t out_of) { return integer(0, out_of - 1) == 0; }
  std::int64_t sign() { return one_in(2) ? 1 : -1; }
  /// Returns the random generator from which sequences for other purposes can be created.
  const Random& random() const { return random_; }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// The purposes of random numbers in an exact case (every correct kernel computes the same bits).
/// Each purpose has its own sequence, per case or per key head.
enum class Purpose : std::uint64_t { channels, codes, choices, key, query, value, dy, thinning };

inline Draws draws(const Random& parent, Purpose purpose) {
  return {parent, static_cast<std::uint64_t>(purpose)};
}

}  // namespace assay::conformance::exact
