#include "attention/formula/head.hpp"

#include <algorithm>

namespace assay::conformance::attention {

bool HeadFormula::errs(std::size_t symbol) const {
  return std::ranges::any_of(head_.rows, [symbol](const GivenRow& row) {
    return (symbol == 0 ? row.delta_error : row.max_error).rigorous > 0;
  });
}

const double* HeadFormula::weights(std::size_t sum, std::size_t kind) const {
  const Norms& norms = sum == dq ? head_.key_norms : sum == dk ? head_.query_norms : head_.dy_norms;
  return norms[kind].empty() ? nullptr : norms[kind].data();
}

void fill_side(const Call& call, const PairSides& sides, std::size_t k, std::int64_t row,
               std::int64_t first, std::span<double> numbers) {
  const bool is_bias = k == 1;
  if (is_bias && call.biased)
    sides.fill_bias(row, first, numbers);
  else if (!is_bias && call.kappa != 1)
    sides.fill_kappa(row, first, numbers);
  else
    std::ranges::fill(numbers, is_bias ? 0.0 : 1.0);
}

}  // namespace assay::conformance::attention
