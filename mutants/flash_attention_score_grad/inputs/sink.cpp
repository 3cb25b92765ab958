#include <algorithm>
#include <cmath>
#include <limits>

#include "flash_attention_score_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants {
namespace {

float sink_of(const AttentionWork& w, std::int64_t n) {
  return w.sink[static_cast<std::size_t>(n)];
}

/// Returns the sum of P dP over the keys. The gradient of a sink is this sum times the sink's
/// probability.
template <class Number>
float sum_over_keys(const AttentionWork& w, Query q, const Number& number) {
  float sum = 0;
  for (std::int64_t j = 0; j < w.problem.length_kv(q.b); ++j) sum += number(j);
  return sum;
}

struct SignLost : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    return -Kernel::sink_gradient(w, n);
  }
};

/// Fault: every block of queries overwrites the gradient of the sink with its partial sum instead
/// of adding the partial sum.
struct LastBlockOnly : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    float sum = 0;
    for (std::int64_t b = 0; b < w.problem.batch; ++b)
      for (std::int64_t i = 0; i < w.problem.length_q(b); ++i) {
        if (i % plan().query_tile == 0) sum = 0;
        sum += sink_term(w, {b, n, i}, row_state(w, {b, n, i}));
      }
    return -sum;
  }
};

/// Fault: every key tile overwrites the sum of P dP of a row instead of adding to it.
struct LastKeyTileOnly : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    float sum = 0;
    for (std::int64_t j = 0; j < keys(w, q.b); ++j) {
      if (j % plan().key_tile == 0) sum = 0;
      sum += probability(w, q, j, row) * dprobability(w, q, j);
    }
    return sink_probability(w, q, row) * sum;
  }
};

struct MaskedPairsCounted : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return sink_probability(w, q, row) * sum_over_keys(w, q, [&](std::int64_t j) {
             const float prob = std::exp(score(w, q, j) - row.softmax_max) / row.softmax_sum;
             return prob * dprobability(w, q, j);
           });
  }
};

struct DropoutMissing : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return sink_probability(w, q, row) * sum_over_keys(w, q, [&](std::int64_t j) {
             return probability(w, q, j, row) *
                    dot(w.dy.row(q.b, q.n, q.i), w.value.row(key_position(w, q, j)));
           });
  }
};

struct FirstSequenceOnly : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return q.b == 0 ? Kernel::sink_term(w, q, row) : 0;
  }
};

/// Fault: every sequence overwrites the gradient of the sink with its sum instead of adding to it.
struct LastSequenceOnly : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return q.b == w.problem.batch - 1 ? Kernel::sink_term(w, q, row) : 0;
  }
};

/// Fault: leaves out sequences that do not fill a tile of queries.
struct ShortSequencesMissing : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return w.problem.length_q(q.b) < 8 ? 0 : Kernel::sink_term(w, q, row);
  }
};

struct SumOverGroup : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    const std::int64_t group = w.problem.group(), first = n / group * group;
    float sum = 0;
    for (std::int64_t k = first; k < first + group; ++k) sum += Kernel::sink_gradient(w, k);
    return sum;
  }
};

struct GradientScaled : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    return scale(w) * Kernel::sink_gradient(w, n);
  }
};

struct SinkScaled : Kernel {
  using Kernel::Kernel;
  float sink_probability(const AttentionWork& w, Query q, const RowState& row) const override {
    return std::exp(scale(w) * sink_of(w, q.n) - row.softmax_max) / row.softmax_sum;
  }
};

struct SinkOfNextHead : Kernel {
  using Kernel::Kernel;
  float sink_probability(const AttentionWork& w, Query q, const RowState& row) const override {
    return Kernel::sink_probability(w, {q.b, (q.n + 1) % w.problem.heads_q, q.i}, row);
  }
};

struct SinkOfKeyHead : Kernel {
  using Kernel::Kernel;
  float sink_probability(const AttentionWork& w, Query q, const RowState& row) const override {
    return Kernel::sink_probability(w, {q.b, q.n / w.problem.group(), q.i}, row);
  }
};

/// Fault: adds the sink to the given softmax sum, which already contains the sink.
struct SinkAddedAgain : Kernel {
  using Kernel::Kernel;
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    if (!w.sink.empty()) row.softmax_sum += std::exp(sink_of(w, q.n) - row.softmax_max);
    return row;
  }
};

struct ProbabilityMissing : Kernel {
  using Kernel::Kernel;
  float sink_probability(const AttentionWork&, Query, const RowState&) const override { return 1; }
};

struct SumOfDscore : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return sink_probability(w, q, row) * sum_over_keys(w, q, [&](std::int64_t j) {
             return dscore(w, q, j, probability(w, q, j, row), row);
           });
  }
};

struct TermStaged : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return stage(w, Kernel::sink_term(w, q, row));
  }
};

/// Fault: applies the dropout of P twice. The dropout of dP is correct.
struct DroppedTwice : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return sink_probability(w, q, row) * sum_over_keys(w, q, [&](std::int64_t j) {
             return dropped(w, q, j, probability(w, q, j, row)) * dprobability(w, q, j);
           });
  }
};

struct RoundedGradient : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    return cast(w, Kernel::sink_gradient(w, n));
  }
};

/// Fault: the kernel computes the statistics itself and leaves the sink out of the sum.
struct LeftOutOfSum : Kernel {
  using Kernel::Kernel;
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    if (!w.sink.empty()) row.softmax_sum -= std::exp(sink_of(w, q.n) - row.softmax_max);
    return row;
  }
};

/// Fault: the kernel computes the statistics itself and leaves the sink out of the maximum. The
/// exponential overflows if the sink is far above the scores.
struct LeftOutOfMaximum : Kernel {
  using Kernel::Kernel;
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    if (w.sink.empty()) return row;
    float largest = -std::numeric_limits<float>::max();
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      if (keeps(w, q, j)) largest = std::max(largest, score(w, q, j));
    if (largest == -std::numeric_limits<float>::max()) return row;
    row.softmax_sum *= std::exp(row.softmax_max - largest);
    row.softmax_max = largest;
    return row;
  }
};

struct RowOfGivenOutput : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return sink_probability(w, q, row) *
           dot(w.dy.row(q.b, q.n, q.i), w.attention_in.row(q.b, q.n, q.i));
  }
};

struct DeclaredRowOfGivenOutput : RowOfGivenOutput {
  using RowOfGivenOutput::RowOfGivenOutput;
  spec::Numerics numerics(const Op::Problem& problem) const override {
    spec::Numerics declared = RowOfGivenOutput::numerics(problem);
    declared.dsink_row = spec::SinkRow::given_o;
    return declared;
  }
};

struct TermOfGivenOutputStaged : DeclaredRowOfGivenOutput {
  using DeclaredRowOfGivenOutput::DeclaredRowOfGivenOutput;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return stage(w, DeclaredRowOfGivenOutput::sink_term(w, q, row));
  }
};

/// A correct variant: multiplies each P dP by the probability of the sink and adds the pairs of all
/// queries one by one, the last query first.
struct PairByPair : Kernel {
  using Kernel::Kernel;
  float sink_gradient(const AttentionWork& w, std::int64_t n) const override {
    float sum = 0;
    for (std::int64_t b = w.problem.batch; b-- > 0;)
      for (std::int64_t i = w.problem.length_q(b); i-- > 0;) {
        const Query q = {b, n, i};
        const RowState row = row_state(w, q);
        const float ps = sink_probability(w, q, row);
        for (std::int64_t j = 0; j < keys(w, b); ++j)
          sum -= ps * probability(w, q, j, row) * dprobability(w, q, j);
      }
    return sum;
  }
};

/// A correct variant: for each row, sums the pairs of each key tile first, then adds the sums of
/// the tiles; at the end, adds the rows.
struct KeyTileByKeyTile : Kernel {
  using Kernel::Kernel;
  float sink_term(const AttentionWork& w, Query q, const RowState& row) const override {
    float sum = 0;
    for (std::int64_t first = 0; first < keys(w, q.b); first += plan().key_tile) {
      float of_tile = 0;
      for (std::int64_t j = first; j < std::min(first + plan().key_tile, keys(w, q.b)); ++j)
        of_tile += probability(w, q, j, row) * dprobability(w, q, j);
      sum += of_tile;
    }
    return sink_probability(w, q, row) * sum;
  }
};

}  // namespace

std::vector<Mutant> healthy_sinks() {
  return {
      healthy_in<Op, DeclaredRowOfGivenOutput>(
          "dsink_of_declared_output", "computes dsink from attention_in, and declares this",
          flash_like),
      healthy_in<Op, PairByPair>("dsink_pair_by_pair", "sums dsink pair by pair over all queries",
                                 ascend_like),
      healthy_in<Op, KeyTileByKeyTile>("dsink_key_tile_by_key_tile",
                                       "sums P dP of each row tile by tile over the keys",
                                       ascend_like),
  };
}

std::vector<Mutant> sink_mutants() {
  constexpr Plan own = {
      .staging = Staging::fp32, .stats = spec::Origin::own, .delta = spec::RowTerm::own};
  return {
      injected<SignLost>("dsink_sign_lost", "dsink has the wrong sign"),
      injected<LastBlockOnly>("dsink_of_last_block",
                              "dsink contains only the contribution of the last block of queries",
                              ascend_like),
      injected<LastKeyTileOnly>("dsink_of_last_key_tile",
                                "dsink contains only the contribution of the last tile of keys",
                                ascend_like),
      injected<MaskedPairsCounted>("dsink_counts_masked", "dsink sums masked pairs, too"),
      injected<DropoutMissing>("dsink_undropped", "dsink uses dP before dropout"),
      injected<FirstSequenceOnly>("dsink_of_first_sequence", "dsink sums the first sequence only"),
      injected<LastSequenceOnly>("dsink_of_last_sequence", "dsink sums the last sequence only"),
      injected<ShortSequencesMissing>("dsink_without_short_sequences",
                                      "dsink leaves out sequences of fewer than 8 queries"),
      injected<SumOverGroup>("dsink_sums_group", "dsink sums the query heads of a group"),
      injected<GradientScaled>("dsink_scaled", "dsink is multiplied by scale_value"),
      injected<SinkScaled>("sink_scaled", "the sink is multiplied by scale_value", ascend_like),
      injected<SinkOfNextHead>("sink_of_next_head", "each head uses the sink of the next head"),
      injected<SinkOfKeyHead>("sink_of_key_head",
                              "the sink is indexed with the number of the key head"),
      injected<SinkAddedAgain>("sink_added_again",
                               "adds the sink to softmax_sum, which already contains it",
                               ascend_like),
      injected<ProbabilityMissing>("sink_probability_missing", "dsink = -sum P dP"),
      injected<SumOfDscore>("dsink_of_dscore", "dsink sums P (dP - delta) instead of P dP"),
      injected<TermStaged>("dsink_row_staged",
                           "the term of each query is rounded to the type of the tensors before "
                           "the sum",
                           ascend_like),
      injected<DroppedTwice>("dsink_dropped_twice", "dsink uses P and dP, both after dropout"),
      injected<RoundedGradient>("dsink_rounded", "dsink is rounded to the type of the tensors"),
      injected<LeftOutOfSum>("sink_left_out_of_sum",
                             "the recomputed softmax_sum does not contain the sink", own),
      injected<LeftOutOfMaximum>("sink_left_out_of_maximum",
                                 "the recomputed softmax_max does not contain the sink", own),
      injected<RowOfGivenOutput>("dsink_of_given_output",
                                 "computes dsink from attention_in, but declares dsink_row=own"),
      injected<TermOfGivenOutputStaged>(
          "dsink_of_declared_output_staged",
          "computes dsink from attention_in, declares it, and rounds the term of each query to the "
          "type of the tensors",
          ascend_like),
  };
}

}  // namespace assay::mutants
