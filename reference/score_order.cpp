#include "assay/reference/score_order.hpp"

namespace assay::reference {

ScoreOrder::ScoreOrder(const spec::AttentionProblem& problem)
    : heads_q_(problem.heads_q), seq_q_(problem.seq_q), seq_kv_(problem.seq_kv) {
  if (problem.lengths_q.empty() && problem.lengths_kv.empty()) return;
  std::int64_t first = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    const std::int64_t length_q = problem.length_q(b), length_kv = problem.length_kv(b);
    sequences_.push_back({.first = first, .length_q = length_q, .length_kv = length_kv});
    first += heads_q_ * length_q * length_kv;
  }
}

}  // namespace assay::reference
