#include <algorithm>
#include <cmath>
#include <limits>

#include "flash_attention_score/of_gradient.hpp"
#include "flash_attention_score_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants::attention_forward {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

float sink_of(const AttentionWork& w, Query q) { return w.sink[static_cast<std::size_t>(q.n)]; }

/// Base of mutants: computes the statistics of the plain kernel with another sink value.
struct SinkReader : Kernel {
  RowState with(const AttentionWork& w, Query q, float sink) const {
    AttentionWork other = w;
    other.sink[static_cast<std::size_t>(q.n)] = sink;
    return Kernel::forward_statistics(other, q);
  }
};

struct LeftOutOfSum : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::forward_statistics(w, q);
    if (!w.sink.empty()) row.softmax_sum -= std::exp(sink_of(w, q) - row.softmax_max);
    return row;
  }
};

/// Fault: the maximum omits the sink. softmax_sum is relative to this maximum, so the output is
/// still correct unless it overflows.
struct LeftOutOfMaximum : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::forward_statistics(w, q);
    if (w.sink.empty()) return row;
    float largest = -largest_float;
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      if (keeps(w, q, j)) largest = std::max(largest, score(w, q, j));
    if (largest == -largest_float) return row;
    row.softmax_sum *= std::exp(row.softmax_max - largest);
    row.softmax_max = largest;
    return row;
  }
};

struct AddedTwice : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::forward_statistics(w, q);
    if (!w.sink.empty()) row.softmax_sum += std::exp(sink_of(w, q) - row.softmax_max);
    return row;
  }
};

struct Scaled : SinkReader {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    return w.sink.empty() ? Kernel::forward_statistics(w, q) : with(w, q, scale(w) * sink_of(w, q));
  }
};

struct OfNextHead : SinkReader {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    const Query next = {q.b, (q.n + 1) % w.problem.heads_q, q.i};
    return w.sink.empty() ? Kernel::forward_statistics(w, q) : with(w, q, sink_of(w, next));
  }
};

struct OfKeyHead : SinkReader {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    const Query of_key = {q.b, q.n / w.problem.group(), q.i};
    return w.sink.empty() ? Kernel::forward_statistics(w, q) : with(w, q, sink_of(w, of_key));
  }
};

struct Rounded : SinkReader {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    return w.sink.empty()
               ? Kernel::forward_statistics(w, q)
               : with(w, q, rounded(sink_of(w, q), spec::DType::bf16, spec::Rounding::rne));
  }
};

struct InFirstSequenceOnly : SinkReader {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    AttentionWork without = w;
    if (q.b > 0) without.sink.clear();
    return Kernel::forward_statistics(without, q);
  }
};

/// Fault: a fully masked row gets the statistics that it would have without a sink.
struct DeadRowWithoutSink : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      if (keeps(w, q, j)) return Kernel::forward_statistics(w, q);
    return {.softmax_max = -largest_float, .softmax_sum = largest_float, .row_term = 0};
  }
};

/// Fault: the statistics contain the sink, but the output is divided by the sum without the sink.
struct OutputWithoutSink : Kernel {
  float output_weight(const AttentionWork& w, Query q, std::int64_t j,
                      const RowState& row) const override {
    RowState without = row;
    if (!w.sink.empty()) without.softmax_sum -= std::exp(sink_of(w, q) - row.softmax_max);
    return Kernel::output_weight(w, q, j, without);
  }
};

/// A correct variant: starts the maximum with the sink and the sum with 1, then adds key by key and
/// rescales the sum.
struct StartsWithSink : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    if (w.sink.empty()) return Kernel::forward_statistics(w, q);
    RowState row = {.softmax_max = sink_of(w, q), .softmax_sum = 1, .row_term = 0};
    for (std::int64_t j = 0; j < keys(w, q.b); ++j) {
      if (!keeps(w, q, j)) continue;
      const float s = score(w, q, j), max = std::max(row.softmax_max, s);
      row.softmax_sum = row.softmax_sum * std::exp(row.softmax_max - max) + std::exp(s - max);
      row.softmax_max = max;
    }
    return row;
  }
};

/// A correct variant: writes zeros for sequences without keys, as the vendor's code does.
struct KeylessZeros : Kernel {
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    if (w.problem.length_kv(q.b) == 0 && !w.sink.empty())
      return {.softmax_max = 0, .softmax_sum = 0, .row_term = 0};
    return Kernel::forward_statistics(w, q);
  }
};

}  // namespace

std::vector<Mutant> sinks_of_forward() {
  return {
      healthy_in<spec::FlashAttentionScoreGrad, StartsWithSink>(
          "starts_with_sink", "the running maximum starts with the sink", ascend_like),
      healthy_in<spec::FlashAttentionScoreGrad, KeylessZeros>(
          "keyless_zeros_with_sink", "sequences without keys have zero statistics", ascend_like),
      injected<LeftOutOfSum>("sink_left_out_of_sum", "softmax_sum does not contain the sink"),
      injected<LeftOutOfMaximum>("sink_left_out_of_maximum",
                                 "softmax_max does not contain the sink", ascend_like),
      injected<AddedTwice>("sink_added_twice", "the sum contains the sink twice", ascend_like),
      injected<Scaled>("sink_scaled", "the sink is multiplied by scale_value"),
      injected<OfNextHead>("sink_of_next_head", "each head uses the sink of the next head",
                           ascend_like),
      injected<OfKeyHead>("sink_of_key_head",
                          "the sink is indexed with the number of the key head"),
      injected<Rounded>("sink_rounded", "the sink is rounded to bf16"),
      injected<InFirstSequenceOnly>("sink_in_first_sequence",
                                    "only the first sequence has the sink", ascend_like),
      injected<DeadRowWithoutSink>("dead_row_without_sink",
                                   "a fully masked row has the statistics of a row without sink"),
      injected<OutputWithoutSink>("output_without_sink",
                                  "the output is divided by the sum without the sink", ascend_like),
  };
}

}  // namespace assay::mutants::attention_forward
