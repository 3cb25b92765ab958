#include "assay/reference/toy_operator.hpp"

#include "rows.hpp"

namespace assay::reference {

template <class Real, class Stored>
std::vector<Real> ToyOperator<Real, Stored>::output_row(std::int64_t n, std::int64_t i) const {
  auto sum = zeros<Real>(problem_.head_dim);
  for (std::int64_t w = 0; w < problem_.window; ++w)
    add_scaled(sum, Real(weight_[static_cast<std::size_t>(n * problem_.window + w)]),
               row<Real>(input_, n * problem_.seq + i + w, problem_.head_dim));
  return sum;
}

template class ToyOperator<double>;
template class ToyOperator<Wide, float>;

}  // namespace assay::reference
