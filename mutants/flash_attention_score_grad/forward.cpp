#include <algorithm>
#include <limits>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct SumCountsMaskedKeys : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::forward_statistics(w, q);
    if (row.softmax_max == -std::numeric_limits<float>::max()) return row;
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      if (!keeps(w, q, j))
        row.softmax_sum +=
            exponential(Exponential::library, std::min(score(w, q, j) - row.softmax_max, 0.0f));
    return row;
  }
};

/// Fault: the maximum omits the bias. softmax_sum is relative to this maximum, so the probabilities
/// and gradients are still correct.
struct MaxBeforeBias : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    const RowState row = Kernel::forward_statistics(w, q);
    if (row.softmax_max == -std::numeric_limits<float>::max()) return row;
    AttentionWork plain = w;
    plain.pse.clear();
    const float max = Kernel::forward_statistics(plain, q).softmax_max;
    const float factor = exponential(Exponential::library, row.softmax_max - max);
    return {.softmax_max = max, .softmax_sum = row.softmax_sum * factor, .row_term = 0};
  }
};

struct OutputNotRescaled : Kernel {
  float output_weight(const AttentionWork& w, Query q, std::int64_t j,
                      const RowState& row) const override {
    return Kernel::output_weight(w, q, j, row) / inverse_keep_prob(w);
  }
};

struct SumOfDropped : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    const RowState row = Kernel::forward_statistics(w, q);
    if (row.softmax_max == -std::numeric_limits<float>::max()) return row;
    float sum = 0;
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      sum += dropped(w, q, j, probability(w, q, j, row)) * row.softmax_sum;
    return {.softmax_max = row.softmax_max, .softmax_sum = sum, .row_term = 0};
  }
};

struct OneReplica : Kernel {
  std::int64_t written_replicas() const override { return 1; }
};

struct DeadSumOfOne : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::forward_statistics(w, q);
    if (row.softmax_max == -std::numeric_limits<float>::max()) row.softmax_sum = 1;
    return row;
  }
};

template <class Bug>
Mutant injected_forward(const std::string& name, std::string bug, const Plan& plan) {
  Mutant mutant = injected<Bug>(name, std::move(bug), plan);
  mutant.subject = Subject::forward;
  return mutant;
}

}  // namespace

std::vector<Mutant> forward_mutants() {
  return {
      injected_forward<SumCountsMaskedKeys>("forward_sum_counts_masked",
                                            "softmax_sum counts masked keys", flash_like),
      injected_forward<MaxBeforeBias>("forward_max_before_bias",
                                      "softmax_max is computed before the position bias is added",
                                      ascend_like),
      injected_forward<OutputNotRescaled>("forward_output_not_rescaled",
                                          "attention_in is not divided by keep_prob", flash_like),
      injected_forward<SumOfDropped>("forward_sum_of_dropped",
                                     "softmax_sum is the sum of the probabilities after dropout",
                                     ascend_like),
      injected_forward<OneReplica>("forward_one_replica",
                                   "each statistic is written once, not eight times", ascend_like),
      injected_forward<DeadSumOfOne>("forward_dead_sum_of_one",
                                     "a row without keys has softmax_sum 1", flash_like),
  };
}

}  // namespace assay::mutants
