#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/exact/group.hpp"

namespace assay::conformance::exact {

/// The sums that are checked: each must be exact in any order of additions.
enum class Sum : std::uint8_t { score, row_term, dscore, dq, dk, dv };

struct Excess {
  Sum sum;
  std::string text;  ///< says where, how long, and the limit
};

/// The exact gradients of one key head and its query heads, row by row. In each row of dq and dk
/// the rope channels come last.
struct Gradients {
  std::vector<Dyadic> dq, dk, dv;
};

class Total;

/// Computes the exact sums of one key head and its query heads. Also proves that no accumulator
/// rounds them, for any order of additions. The proof: if all summands are multiples of g, and sum
/// |summand| <= 2^bits g, every partial sum is exact.
class Sums {
 public:
  Sums(const ExactPlan& plan, const Group& group);

  /// Returns the first sum that needs too many bits. Checks scores, row terms and dS, then every
  /// element of dq, dk and dv, including rows that are not judged.
  std::optional<Excess> excess() const;
  /// Computes the given rows of the exact gradients. In dq the head is the slowest index.
  Gradients gradients(std::span<const std::int64_t> query_rows,
                      std::span<const std::int64_t> key_rows) const;

 private:
  struct Pair {
    std::int64_t row;
    std::size_t member;
  };
  std::span<const Pair> pairs_of(std::int64_t j) const;
  std::optional<Excess> row_excess() const;
  std::optional<Excess> gradient_excess() const;
  std::optional<Excess> total_excess(Sum sum, std::int64_t row, std::span<const Total> totals,
                                     int exponent) const;
  int dq_exponent(std::int64_t r) const;
  int dk_exponent() const;
  int dv_exponent() const;
  void sum_dq(std::int64_t r, std::span<Total> totals) const;
  /// sum_dk adds the summands of dk, each multiplied by `factor`, to `totals`. sum_dv adds the
  /// summands of dv, each multiplied by 2^`shift`.
  void sum_dk(std::int64_t j, std::span<Total> totals, std::int64_t factor = 1) const;
  void sum_dv(std::int64_t j, std::span<Total> totals, int shift = 0) const;
  /// Adds the summands of dk (with scale) and of dv to `totals`, in the unit of dk. The rope
  /// channels have no dv.
  void sum_both(std::int64_t j, std::span<Total> totals) const;

  const ExactPlan* plan_;
  const Group* group_;
  std::vector<std::size_t> begin_;  ///< start of every key in pairs_
  std::vector<Pair> pairs_;         ///< rows that contribute, by key
};

}  // namespace assay::conformance::exact
