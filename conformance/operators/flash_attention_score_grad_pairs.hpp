#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/arithmetic.hpp"
#include "assay/reference/mask.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::flash {

using Op = spec::FlashAttentionScoreGrad;

/// Dense copies in double of a case's tensors, each (batch, heads, seq, dim) row-major. Refers to the mask of `inputs`.
class Dense {
 public:
  Dense(const Op::Problem& problem, const Op::Inputs& inputs);

  const double* query(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_.data() + query_row(b, n, i) * problem.head_dim;
  }
  const double* dy(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return dy_.data() + query_row(b, n, i) * problem.head_dim_v;
  }
  const double* attention_in(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return attention_in_.data() + query_row(b, n, i) * problem.head_dim_v;
  }
  const double* key(std::int64_t b, std::int64_t kv, std::int64_t j) const {
    return key_.data() + key_row(b, kv, j) * problem.head_dim;
  }
  const double* value(std::int64_t b, std::int64_t kv, std::int64_t j) const {
    return value_.data() + key_row(b, kv, j) * problem.head_dim_v;
  }
  double softmax_max(std::int64_t row) const { return softmax_max_[static_cast<std::size_t>(row)]; }
  double softmax_sum(std::int64_t row) const { return softmax_sum_[static_cast<std::size_t>(row)]; }
  std::int64_t query_row(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return (b * problem.heads_q + n) * problem.seq_q + i;
  }
  std::int64_t key_row(std::int64_t b, std::int64_t kv, std::int64_t j) const {
    return (b * problem.heads_kv + kv) * problem.seq_kv + j;
  }

  Op::Problem problem;
  double scale;  ///< as the operator uses it: rounded to fp32
  reference::Mask mask;

 private:
  std::vector<double> query_, key_, value_, dy_, attention_in_, softmax_max_, softmax_sum_;
};

/// Sums over the channels that one query makes with some keys, one entry a key.
struct Products {
  std::vector<double> score, score_abs, score_sq;     ///< q k, |q k|, (q k)^2 summed over D
  std::vector<double> dprob, dprob_abs, dprob_sq;     ///< dy v alike over Dv
  std::vector<std::uint8_t> keep;
  bool any_kept = false;
};

/// Transposed copies of some keys and values of one kv head, so that products run along keys.
class Columns {
 public:
  Columns(const Dense& dense, std::int64_t b, std::int64_t kv, std::span<const std::int64_t> keys);

  /// Products of query (b, n, i) with these keys; the sums are left alone where no key is kept.
  void multiply(std::int64_t n, std::int64_t i, Products& products) const;
  std::int64_t size() const { return static_cast<std::int64_t>(keys_.size()); }
  std::int64_t key(std::int64_t column) const { return keys_[static_cast<std::size_t>(column)]; }

 private:
  const Dense* dense_;
  std::int64_t b_;
  std::vector<std::int64_t> keys_;
  std::vector<double> key_, value_;  ///< (dim, keys)
};

/// What the errors of a whole row depend on.
struct RowTerms {
  bool live = false;
  double softmax_max = 0, softmax_sum = 1;
  double delta = 0;  ///< the row term that the reference uses
  double omega_rig = 0, omega_ind = 0, omega_com = 0;  ///< error of the kernel's row term
  double zeta_rig = 0, zeta_ind = 0, zeta_com = 0;     ///< relative error of recomputed statistics
};

/// Error terms of one pair: coefficients that multiply rows of K, Q or dO.
struct PairTerms {
  double prob = 0, dprob = 0, dscore = 0;
  double magnitude = 0;             ///< s = |dscore|
  double rig_q = 0, rig_k = 0;      ///< h + e0, h + e
  double prob_error = 0;            ///< eP
  double azuma_q = 0, azuma_k = 0;  ///< squares of the mean-free parts
  double linear_q = 0, linear_k = 0;
  double core_q = 0, core_k = 0;    ///< second moments of healthy errors
  double spread = 0;                ///< w_s^2 + h^2 of the pair, for the degrees of freedom
  double drift_s = 0, drift_p = 0;  ///< what staging is known to add to dscore and prob; 0 where noise hides it
  double staged_v = 0, rig_v = 0, azuma_v = 0, linear_v = 0, core_v = 0, spread_v = 0;
  bool dscore_may_overflow = false, prob_may_overflow = false, dprob_may_overflow = false;
};

/// One element of `Products`.
struct PairSums {
  double score, score_abs, score_sq, dprob, dprob_abs, dprob_sq;
};
inline PairSums sums_of(const Products& products, std::size_t c) {
  return {products.score[c], products.score_abs[c], products.score_sq[c],
          products.dprob[c], products.dprob_abs[c], products.dprob_sq[c]};
}

inline double square(double x) { return x * x; }

/// The formulas of README.md, "Bound".
PairTerms pair_terms(const Dense& dense, const Arithmetic& arithmetic, const RowTerms& row,
                     const PairSums& sums);

/// Row terms of every query row, (b, n, i). Kernels with statistics or row term of their own need a pass over all pairs.
/// `consistent` tells whether the statistics and attention_in belong to the data.
struct AllRowTerms {
  std::vector<RowTerms> rows;
  bool consistent = true;
};
AllRowTerms row_terms(const Dense& dense, const Arithmetic& arithmetic);

}  // namespace assay::conformance::flash
