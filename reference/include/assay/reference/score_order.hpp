#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/attention_problem.hpp"

namespace assay::reference {

/// Numbers the scores of a problem, including masked ones: sequence by sequence, then head by head,
/// query by query, key by key. Dropout bits and packed position biases are stored in this order.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (dropMaskOptional).
class ScoreOrder {
 public:
  explicit ScoreOrder(const spec::AttentionProblem& problem);

  std::int64_t operator()(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (sequences_.empty()) return ((b * heads_q_ + n) * seq_q_ + i) * seq_kv_ + j;
    const Sequence& sequence = sequences_[static_cast<std::size_t>(b)];
    return sequence.first + (n * sequence.length_q + i) * sequence.length_kv + j;
  }

 private:
  struct Sequence {
    std::int64_t first, length_q, length_kv;
  };

  std::int64_t heads_q_, seq_q_, seq_kv_;
  std::vector<Sequence> sequences_;  ///< empty: all sequences have the same lengths
};

}  // namespace assay::reference
