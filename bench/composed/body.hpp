#pragma once

#include <Eigen/Dense>

#include "composed/composed.hpp"

namespace assay::bench {

inline void composed_body(const ComposedHead& h) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using In = Eigen::Map<const Matrix>;
  using Column = Eigen::Map<const Eigen::VectorXf>;
  using Out = Eigen::Map<Matrix>;
  const In query(h.query, h.seq_q, h.dim), key(h.key, h.seq_kv, h.dim),
      value(h.value, h.seq_kv, h.dim), dy(h.dy, h.seq_q, h.dim),
      attention_in(h.attention_in, h.seq_q, h.dim);
  const Column max(h.softmax_max, h.seq_q), sum(h.softmax_sum, h.seq_q);

  Matrix prob = query * key.transpose();
  prob = ((h.scale * prob).colwise() - max).array().exp().matrix();
  prob = prob.array().colwise() / sum.array();
  if (h.causal)
    for (Eigen::Index i = 0; i < h.seq_q && i + 1 < h.seq_kv; ++i)
      prob.row(i).tail(h.seq_kv - i - 1).setZero();
  const Eigen::VectorXf row_term = dy.cwiseProduct(attention_in).rowwise().sum();
  Matrix dscore = dy * value.transpose();
  dscore = prob.array() * (dscore.colwise() - row_term).array();
  Out(h.dv, h.seq_kv, h.dim).noalias() = prob.transpose() * dy;
  Out(h.dq, h.seq_q, h.dim).noalias() = h.scale * (dscore * key);
  Out(h.dk, h.seq_kv, h.dim).noalias() = h.scale * (dscore.transpose() * query);
}

}  // namespace assay::bench
