#pragma once

#include <Eigen/Dense>

#include "composed/product.hpp"

namespace assay::bench {

template <class T>
void product_body(const PlainProduct<T>& p) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using In = Eigen::Map<const Matrix>;
  const In b(p.b, p.depth, p.columns);
  Eigen::Map<Matrix> c(p.c, p.rows, p.columns);
  if (p.transposed)
    c.noalias() = In(p.a, p.depth, p.rows).transpose() * b;
  else
    c.noalias() = In(p.a, p.rows, p.depth) * b;
}

}  // namespace assay::bench
