#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

struct ScaleMissingOnDk : Kernel {
  float gradient_scale(const SelectedWork& w, Gradient which) const override {
    return which == Gradient::dk ? 1.0f : Kernel::gradient_scale(w, which);
  }
};

struct ScaleMissingOnDq : Kernel {
  float gradient_scale(const SelectedWork& w, Gradient which) const override {
    return which == Gradient::dq ? 1.0f : Kernel::gradient_scale(w, which);
  }
};

struct ScaleOnDv : Kernel {
  float gradient_scale(const SelectedWork& w, Gradient) const override { return scale(w); }
};

/// Fault: reads key as if it were contiguous.
struct KeyStridesIgnored : Kernel {
  SelectedWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SelectedWork w = Kernel::load(p, inputs);
    spec::Tensor packed = inputs.key;
    packed.strides = spec::contiguous_strides(packed.shape), packed.offset = 0;
    w.key = read(packed, w.key.extents);
    return w;
  }
};

struct RowTermMissing : Kernel {
  float row_term(const SelectedWork&, Query) const override { return 0; }
};

struct RowTermOfFirstHead : Kernel {
  float row_term(const SelectedWork& w, Query q) const override {
    return Kernel::row_term(w, {q.b, kv_head(w, q.n) * w.problem.group(), q.i});
  }
};

struct StatisticsOfNextToken : Kernel {
  RowState row_state(const SelectedWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    const std::int64_t next = (q.i + 1) % w.problem.length_q(q.b);
    row.softmax_max = w.softmax_max.row(q.b, q.n, next)[0];
    row.softmax_sum = w.softmax_sum.row(q.b, q.n, next)[0];
    return row;
  }
};

struct StatisticsOfNextHead : Kernel {
  RowState row_state(const SelectedWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    row.softmax_sum = w.softmax_sum.row(q.b, (q.n + 1) % w.problem.heads_q, q.i)[0];
    return row;
  }
};

struct SumIgnored : Kernel {
  RowState row_state(const SelectedWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    row.softmax_sum = 1;
    return row;
  }
};

struct LastHeadOfGroupOnly : Kernel {
  bool collects(const SelectedWork& w, Gradient which, const Pair& pair) const override {
    return which == Gradient::dq || (pair.q.n + 1) % w.problem.group() == 0;
  }
};

struct FirstHeadOfGroupOnly : Kernel {
  bool collects(const SelectedWork& w, Gradient which, const Pair& pair) const override {
    return which == Gradient::dq || pair.q.n % w.problem.group() == 0;
  }
};

/// Fault: uses at most 16 heads per group, the limit of the fast path in the vendor's kernel.
struct SixteenHeadsOfGroup : Kernel {
  bool collects(const SelectedWork& w, Gradient, const Pair& pair) const override {
    return pair.q.n % w.problem.group() < 16;
  }
};

/// Fault: in groups of unusual sizes, dk and dv omit the last head.
struct UnusualGroup : Kernel {
  bool collects(const SelectedWork& w, Gradient which, const Pair& pair) const override {
    constexpr std::int64_t unusual[] = {6, 7, 10, 11, 12, 14, 24, 27, 29, 30, 31};
    const std::int64_t group = w.problem.group();
    return which == Gradient::dq || std::ranges::find(unusual, group) == std::end(unusual) ||
           pair.q.n % group != group - 1;
  }
};

/// Fault: if the number of tokens is one more than a multiple of the core count, skips the last
/// token.
struct LastRoundMissed : Kernel {
  std::int64_t tokens(const SelectedWork& w, std::int64_t b) const override {
    const std::int64_t own = Kernel::tokens(w, b);
    const std::int64_t all = query_extents(w.problem).tokens() * w.problem.heads_kv;
    const bool missed = all > 24 && all % 24 == 1 && w.problem.heads_kv == 1;
    return missed && b == w.problem.batch - 1 ? own - 1 : own;
  }
};

/// Fault: in dP, uses only the first 128 channels of value.
struct ValueOf128 : Kernel {
  float dprobability(const SelectedWork& w, const Pair& pair) const override {
    return dot(w.dy.row(pair.q.b, pair.q.n, pair.q.i).first(128),
               w.value.row(key_row(w, pair)).first(128));
  }
};

/// Fault: in the scores, uses only the first 128 channels of query.
struct ScoresOf128 : Kernel {
  float product(const SelectedWork& w, const Pair& pair) const override {
    return dot(w.query.row(pair.q.b, pair.q.n, pair.q.i).first(128),
               w.key.row(key_row(w, pair)).first(128));
  }
};

}  // namespace

std::vector<Mutant> row_mutants() {
  return {
      injected<ScaleMissingOnDk>("scale_missing_on_dk", "dk is not multiplied by scale_value",
                                 ascend_like),
      injected<ScaleMissingOnDq>("scale_missing_on_dq", "dq is not multiplied by scale_value"),
      injected<ScaleOnDv>("scale_on_dv", "dv is multiplied by scale_value"),
      injected<KeyStridesIgnored>("key_strides_ignored",
                                  "reads key as if it were "
                                  "contiguous",
                                  ascend_like),
      injected<RowTermMissing>("row_term_missing", "dS = P dP", ascend_like),
      injected<RowTermOfFirstHead>(
          "row_term_of_first_head",
          "all heads of a group use delta (the row term) of the first head"),
      injected<StatisticsOfNextToken>("statistics_of_next_token",
                                      "uses the statistics of the next token"),
      injected<StatisticsOfNextHead>("statistics_of_next_head",
                                     "uses the sum of the next query head", ascend_like),
      injected<SumIgnored>("sum_ignored", "P is not divided by softmax_sum"),
      injected<LastHeadOfGroupOnly>(
          "last_head_of_group_only",
          "dk and dv contain only the contribution of the last query head of a group"),
      injected<FirstHeadOfGroupOnly>(
          "first_head_of_group_only",
          "dk and dv contain only the contribution of the first query head of a group"),
      injected<SixteenHeadsOfGroup>("sixteen_heads_of_group",
                                    "heads of a group after the sixteenth are omitted"),
      injected<UnusualGroup>("unusual_group",
                             "in groups of unusual size, the last head is omitted"),
      injected<LastRoundMissed>("last_round_missed",
                                "if the number of tokens is a multiple of 24 (the cores) plus 1, "
                                "the last token is omitted"),
      injected<ValueOf128>("value_of_128", "dP uses only 128 channels of value", ascend_like),
      injected<ScoresOf128>("scores_of_128", "scores use only 128 channels of query"),
  };
}

}  // namespace assay::mutants::selected
