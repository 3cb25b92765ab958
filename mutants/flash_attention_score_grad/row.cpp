#include <algorithm>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct RowTermMissing : Kernel {
  float row_term(const AttentionWork&, Query, const RowState&) const override { return 0; }
};

struct RowTermStaged : Kernel {
  float row_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return stage(w, Kernel::row_term(w, q, row));
  }
};

struct RowTermOfRowAbove : Kernel {
  float row_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return Kernel::row_term(w, {q.b, q.n, std::max<std::int64_t>(q.i - 1, 0)}, row);
  }
};

struct SumIgnored : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    if (!is_dead(w, q)) row.softmax_sum = 1;
    return row;
  }
};

struct SumOfRowBelow : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    row.softmax_sum =
        w.softmax_sum.row(q.b, q.n, std::min(q.i + 1, w.problem.length_q(q.b) - 1))[0];
    return row;
  }
};

struct MaximumOfRowZero : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    row.softmax_max = w.softmax_max.row(q.b, q.n, 0)[0];
    return row;
  }
};

struct StatisticsOfHeadZero : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    row.softmax_max = w.softmax_max.row(q.b, 0, q.i)[0];
    row.softmax_sum = w.softmax_sum.row(q.b, 0, q.i)[0];
    return row;
  }
};

/// Fault: the recomputed softmax sum of a row omits the last key.
struct OwnSumMissesLastKey : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    const std::int64_t last = w.problem.length_kv(q.b) - 1;
    if (last >= 0) row.softmax_sum *= 1.0f - probability(w, q, last, row);
    return row;
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    return row.softmax_sum == 0 ? 0 : Kernel::probability(w, q, j, row);
  }
};

}  // namespace

std::vector<Mutant> row_mutants() {
  constexpr Plan fp32_staging = {.staging = Staging::fp32};
  constexpr Plan own_term = {.staging = Staging::fp32, .delta = spec::RowTerm::own};
  constexpr Plan own_statistics = {
      .staging = Staging::fp32, .stats = spec::Origin::own, .delta = spec::RowTerm::own};
  constexpr Plan own_output = {.stats = spec::Origin::own, .delta = spec::RowTerm::own_output};
  constexpr Plan own_term_staged = {.stats = spec::Origin::own, .delta = spec::RowTerm::own};
  return {
      injected<RowTermMissing>("row_term_missing", "dS = P dP", ascend_like),
      injected<RowTermStaged>("row_term_staged",
                              "delta (the row term) is rounded to the type of the tensors"),
      injected<RowTermOfRowAbove>("row_term_of_row_above",
                                  "uses delta (the row term) of the previous query"),
      misdeclared("row_term_own",
                  "computes delta (the row term) from its own unrounded output, but "
                  "declares that it uses the given output",
                  own_term, fp32_staging),
      misdeclared("row_term_of_own_output",
                  "computes delta (the row term) from its own rounded output, but declares that "
                  "delta is the sum of the kernel's P dP",
                  own_output, own_term_staged),
      injected<SumIgnored>("softmax_sum_ignored", "P is not divided by softmax_sum", ascend_like),
      injected<SumOfRowBelow>("softmax_sum_of_row_below", "uses softmax_sum of the next query"),
      injected<MaximumOfRowZero>("softmax_max_of_row_zero",
                                 "every query uses softmax_max of query "
                                 "0"),
      injected<StatisticsOfHeadZero>("statistics_of_head_zero",
                                     "every head uses the statistics of head 0"),
      injected<OwnSumMissesLastKey>("own_sum_misses_last_key",
                                    "the recomputed softmax_sum omits the last key",
                                    own_statistics),
  };
}

}  // namespace assay::mutants
