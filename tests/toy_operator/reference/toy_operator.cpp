#include "assay/reference/toy_operator.hpp"

#include "rows.hpp"

namespace assay::reference {

template <class Real, class Stored>
std::vector<Real> ToyOperator<Real, Stored>::output_row(std::int64_t n, std::int64_t i) const {
  auto sum = zeros<Real>(problem.head_dim);
  for (std::int64_t w = 0; w < problem.window; ++w)
    add_scaled(sum, Real(weight[static_cast<std::size_t>(n * problem.window + w)]),
               row<Real>(input, n * problem.seq + i + w, problem.head_dim));
  return sum;
}

template class ToyOperator<double>;
template class ToyOperator<Wide, float>;

}  // namespace assay::reference
