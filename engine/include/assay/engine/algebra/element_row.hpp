#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// All elements of one output row, stored as a structure of arrays (one array per member), so that
/// several elements load at once. Padding at the end allows a load at any position.
class ElementRow {
 public:
  explicit ElementRow(std::size_t count)
      : count_(count), pitch_(count + most_lanes), numbers_(members * pitch_) {}

  std::size_t size() const { return count_; }
  void put(std::size_t d, const Element& x) {
    const std::array<double, members> all = {
        x.value, x.magnitude,     x.rigorous, x.squares,        x.shared,        x.moment,
        x.drift, x.value_squares, x.partials, x.by_constant[0], x.by_constant[1]};
    for (std::size_t m = 0; m < members; ++m) numbers_[m * pitch_ + d] = all[m];
    terms_ = x.terms;
  }
  Element operator[](std::size_t d) const {
    const auto number = [&](std::size_t member) { return numbers_[member * pitch_ + d]; };
    return {.value = number(0),
            .magnitude = number(1),
            .rigorous = number(2),
            .squares = number(3),
            .shared = number(4),
            .moment = number(5),
            .drift = number(6),
            .terms = terms_,
            .value_squares = number(7),
            .partials = number(8),
            .by_constant = {number(9), number(10)}};
  }

  /// Returns the elements d, d + 1, ..., one in each lane.
  [[gnu::always_inline]] ElementOf<Lanes> lanes_from(std::size_t d) const {
    const double* first = numbers_.data() + d;
    const auto number = [ this, first ](std::size_t member) __attribute__((always_inline)) {
      Lanes x;
      __builtin_memcpy(&x, first + member * pitch_, sizeof x);
      return x;
    };
    return {number(0),
            number(1),
            number(2),
            number(3),
            number(4),
            number(5),
            number(6),
            terms_,
            number(7),
            number(8),
            {number(9), number(10)}};
  }

 private:
  static constexpr std::size_t members = 11;

  std::size_t count_, pitch_;
  std::vector<double> numbers_;
  double terms_ = 0;  ///< equal for all elements of the row
};

}  // namespace assay::engine
