#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/reference/score_order.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::reference {

/// The bias that pseShift adds to the scores. pse_type 0 and 1: an element of the tensor. pse_type
/// 2: minus the head's slope times the distance between query and key. pse_type 3: minus the slope
/// times the square root of the distance.
///
/// The compressed shapes BNHS and 1NHS store only the last 1024 query rows of a bias that depends
/// only on the distance i - j. This class reads only the very last row, because it contains the
/// bias for every distance i - j >= 0. Above the diagonal the value is 0: these shapes are legal
/// only with a causal mask.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (pseShiftOptional, pseType, qStartIdxOptional,
/// kvStartIdxOptional).
class PositionBias {
 public:
  using Problem = spec::AttentionProblem;

  /// Keeps a reference to `pse_shift`; a null tensor or a tensor of rank 0 means no bias.
  /// Errors: std::invalid_argument if the tensor's shape does not match `problem`, or if a
  /// compressed tensor has fewer columns than the longest sequence has queries.
  PositionBias(const Problem& problem, const spec::Tensor* pse_shift);

  bool present() const { return kind_ != Kind::none; }

  /// Returns the bias of query i and key j of sequence b in head n; 0 without a bias tensor.
  double value(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    return value_as<double>(b, n, i, j);
  }

  /// Returns the same bias as `value`, in arithmetic of type Real.
  template <class Real>
  Real value_as(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    using std::sqrt;
    switch (kind_) {
      case Kind::none:
        return Real(0);
      case Kind::linear:
        return Real(-slope(b, n)) * Real(distance(b, i, j));
      case Kind::root:
        return Real(-slope(b, n)) * sqrt(Real(distance(b, i, j)));
      default:
        return Real(outer(b, n, i, j));
    }
  }

  /// Sets row[k] = value(b, n, i, first + k) for k = 0 .. row.size() - 1.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<double> row,
                std::int64_t first) const;

 private:
  enum class Kind : std::uint8_t {
    none,
    strided,
    toeplitz,
    packed_keys,
    packed_scores,
    linear,
    root
  };

  void take_strides(const Problem& problem);
  double outer(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  double slope(std::int64_t b, std::int64_t n) const {
    return pse_shift_->load(offset_ + b * batch_ + n * head_);
  }
  double distance(std::int64_t b, std::int64_t i, std::int64_t j) const {
    const std::int64_t shift = b == 0 || !shift_of_first_only_ ? shift_ : 0;
    return std::abs(static_cast<double>(j - i + shift));
  }

  Kind kind_ = Kind::none;
  const spec::Tensor* pse_shift_;
  std::int64_t offset_ = 0, batch_ = 0, head_ = 0, query_ = 0, key_ = 0;
  std::int64_t columns_ = 0;  ///< for compressed shapes: number of distances in the last row
  std::int64_t shift_ = 0;    ///< for slopes (pse_type 2 and 3): start index of the keys minus that
                              ///< of the queries
  bool shift_of_first_only_ = false;
  ScoreOrder order_;
  spec::Extents bias_keys_;  ///< for packed sequences: the keys of a sequence and query head
};

/// Computes a score from the bias and from `product`: the dot product of query and key plus the dot
/// product of their rope parts.
/// Source: FlashAttentionScoreGrad.md (formulas: pseType 1 adds the bias before it multiplies by
/// the scale, the other types add it after).
template <class Real>
Real score_of(const Real& product, const Real& bias, const Real& scale, std::int64_t pse_type) {
  if (pse_type == 1) return scale * (product + bias);
  return scale * product + bias;
}

}  // namespace assay::reference
