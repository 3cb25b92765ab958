#pragma once

#include <Eigen/Dense>
#include <algorithm>

#include "composed/selected.hpp"

namespace assay::bench {

inline void selected_body(const ComposedSelection& h) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using In = Eigen::Map<const Matrix>;
  using Column = Eigen::Map<const Eigen::VectorXf>;
  using Out = Eigen::Map<Matrix>;
  const Eigen::Index g = h.group, size = h.block, listed = h.block * h.count;
  const In keys(h.key, h.keys, h.dim), values(h.value, h.keys, h.dim_v);
  Out dk(h.dk, h.keys, h.dim), dv(h.dv, h.keys, h.dim_v);
  dk.setZero();
  dv.setZero();
  Matrix key(listed, h.dim), value(listed, h.dim_v);
  for (Eigen::Index t = 0; t < h.tokens; ++t) {
    const std::int32_t* const list = h.lists + t * h.count;
    for (Eigen::Index i = 0; i < h.count; ++i) {
      key.middleRows(i * size, size) = keys.middleRows(list[i] * size, size);
      value.middleRows(i * size, size) = values.middleRows(list[i] * size, size);
    }
    const In query(h.query + t * g * h.dim, g, h.dim), dy(h.dy + t * g * h.dim_v, g, h.dim_v),
        out(h.attention_out + t * g * h.dim_v, g, h.dim_v);
    const Column max(h.softmax_max + t * g, g), sum(h.softmax_sum + t * g, g);
    Matrix prob = query * key.transpose();
    prob = ((h.scale * prob).colwise() - max).array().exp().matrix();
    prob = prob.array().colwise() / sum.array();
    for (Eigen::Index i = 0; h.causal && i < h.count; ++i) {
      const Eigen::Index seen = std::clamp<Eigen::Index>(t + 1 - list[i] * size, 0, size);
      prob.middleCols(i * size + seen, size - seen).setZero();
    }
    const Eigen::VectorXf row_term = dy.cwiseProduct(out).rowwise().sum();
    Matrix dscore = dy * value.transpose();
    dscore = prob.array() * (dscore.colwise() - row_term).array();
    Out(h.dq + t * g * h.dim, g, h.dim).noalias() = h.scale * (dscore * key);
    const Matrix dkey = h.scale * (dscore.transpose() * query), dvalue = prob.transpose() * dy;
    for (Eigen::Index i = 0; i < h.count; ++i) {
      dk.middleRows(list[i] * size, size) += dkey.middleRows(i * size, size);
      dv.middleRows(list[i] * size, size) += dvalue.middleRows(i * size, size);
    }
  }
}

}  // namespace assay::bench
