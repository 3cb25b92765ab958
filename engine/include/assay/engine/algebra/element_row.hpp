#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// The elements of a row, a list for each member, since who reads eight of them wants each member
/// of theirs side by side: from every element on there are as many as that.
class ElementRow {
 public:
  explicit ElementRow(std::size_t count)
      : count_(count), pitch_(count + lanes_of<Lanes>), numbers_(members * pitch_) {}

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

  // Members of the elements from d on.
  const double* value(std::size_t d) const { return of(0, d); }
  const double* magnitude(std::size_t d) const { return of(1, d); }
  const double* rigorous(std::size_t d) const { return of(2, d); }
  const double* squares(std::size_t d) const { return of(3, d); }
  const double* shared(std::size_t d) const { return of(4, d); }
  const double* moment(std::size_t d) const { return of(5, d); }
  const double* drift(std::size_t d) const { return of(6, d); }
  const double* value_squares(std::size_t d) const { return of(7, d); }
  const double* partials(std::size_t d) const { return of(8, d); }
  const double* by_constant(std::size_t which, std::size_t d) const { return of(9 + which, d); }

 private:
  static constexpr std::size_t members = 11;
  const double* of(std::size_t member, std::size_t d) const {
    return numbers_.data() + member * pitch_ + d;
  }

  std::size_t count_, pitch_;
  std::vector<double> numbers_;
  double terms_ = 0;  ///< of all of them
};

}  // namespace assay::engine
