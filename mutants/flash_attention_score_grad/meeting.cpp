#include <algorithm>

#include "flash_attention_score_grad/size.hpp"

/// Faults that appear only if a call combines several options, or if a value has a rare size.
namespace assay::mutants {
namespace {

using spec::MaskShape;

constexpr std::int64_t last_of_16_bits = 0xffff, last_of_20_bits = 0xfffff;

bool drops_some(const Op::Problem& p) {
  return p.has_dropout() && p.drop_mask != spec::DropMask::absent;
}

/// Fault: reads softmax_max with token indices of 16 bits.
struct MaximumIn16Bits : Kernel {
  static bool concerns(const Op::Problem& p) { return query_extents(p).tokens() > last_of_16_bits; }
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    const spec::Extents& e = w.softmax_max.extents;
    std::int64_t token = (e.start(q.b) + q.i) & last_of_16_bits, b = 0;
    while (token >= e.length(b)) token -= e.length(b++);
    row.softmax_max = w.softmax_max.row(b, q.n, token)[0];
    return row;
  }
};

/// Fault: treats every drop bit (bit of the dropout mask) with an index of 2^20 or more as 1.
struct LateDropBitsSet : Kernel {
  static bool concerns(const Op::Problem& p) {
    return drops_some(p) && spec::score_count(p) > last_of_20_bits;
  }
  bool bit_is_set(const AttentionWork& w, std::int64_t bit) const override {
    return bit > last_of_20_bits || Kernel::bit_is_set(w, bit);
  }
};

/// Fault: if no sequence has more than one query, uses query b as the query of sequence b.
struct QueryOfSequence : Kernel {
  static bool concerns(const Op::Problem& p) {
    if (!is_packed(p.input_layout) || p.seq_q != 1) return false;
    bool after_empty = false, found = false;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      found = found || (after_empty && p.length_q(b) * p.length_kv(b) > 0);
      after_empty = after_empty || p.length_q(b) == 0;
    }
    return found;
  }
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    if (!concerns(p)) return w;
    const DenseRows dy = w.dy;
    const spec::Extents& e = dy.extents;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      const std::int64_t token = std::min(b, e.tokens() - 1);
      std::int64_t source = 0, left = token;
      while (p.length_q(source) == 0 || left-- > 0) ++source;
      std::ranges::copy(dy.row(source, n, s), w.dy.row(b, n, s).begin());
    });
    return w;
  }
};

/// Fault: if the number of heads is one more than a multiple of the core count, skips the last
/// head.
struct LastRoundMissed : Kernel {
  static bool concerns(const Op::Problem& p) {
    const std::int64_t heads = p.batch * p.heads_q;
    return heads > 24 && heads % 24 == 1;
  }
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    const bool last = q.b == w.problem.batch - 1 && q.n == w.problem.heads_q - 1;
    if (!last || !concerns(w.problem)) Kernel::add_pair(w, q, j, row);
  }
};

/// Fault: in BSH, fp32 and sparse mode 3, writes 0 as the gradient of the last channel of value if
/// value has fewer channels than key.
struct NarrowValueOfBsh : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.input_layout == spec::Layout::bsh && p.dtype == spec::DType::fp32 &&
           p.sparse_mode == 3 && p.atten_mask != MaskShape::absent && p.head_dim_v < p.head_dim &&
           p.group() > 1;
  }
  void adjust(AttentionWork& w) const override {
    if (!concerns(w.problem)) return;
    visit_rows(w.dv.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      w.dv.row(b, n, s).back() = 0;
    });
  }
};

/// Fault: with 16 or more heads and a rope part, omits the rope part of the scores from query 1,024
/// on.
struct LateRopeMissed : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.head_dim_rope > 0 && p.heads_q >= 16 && p.seq_q > 1024;
  }
  float rope_product(const AttentionWork& w, Query q, std::int64_t j, float sum) const override {
    return concerns(w.problem) && q.i >= 1024 ? sum : Kernel::rope_product(w, q, j, sum);
  }
};

/// Fault: in sparse mode 2, queries after the last key use the drop bits of the query at the
/// position of the last key.
struct DropRowsOfSquare : Kernel {
  static bool concerns(const Op::Problem& p) {
    return drops_some(p) && p.sparse_mode == 2 && p.atten_mask != MaskShape::absent &&
           p.group() > 1 && p.batch == 4 && p.seq_q > p.seq_kv;
  }
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (concerns(w.problem)) q.i = std::min(q.i, w.problem.length_kv(q.b) - 1);
    return Kernel::drop_bit(w, q, j);
  }
};

template <class Bug>
SizeMutant meeting(const std::string& name, std::string bug) {
  return {injected<Bug>(name, std::move(bug)), Bug::concerns};
}

}  // namespace

std::vector<SizeMutant> meeting_mutants() {
  return {
      meeting<MaximumIn16Bits>("maximum_in_16_bits",
                               "softmax_max is read with token indices of 16 bits"),
      meeting<LateDropBitsSet>("late_drop_bits_set",
                               "drop bits with an index of 2^20 or more are read as 1"),
      meeting<QueryOfSequence>(
          "query_of_sequence",
          "in sequences of one query, the index of dy ignores empty sequences"),
      meeting<LastRoundMissed>("last_round_missed",
                               "if the number of heads is a multiple of 24 (the cores) plus 1, the "
                               "last head is left out"),
      meeting<NarrowValueOfBsh>("narrow_value_of_bsh",
                                "in BSH, fp32, mode 3 with grouped heads, the last channel of a "
                                "narrow dv is 0"),
      meeting<LateRopeMissed>(
          "late_rope_missed",
          "with many heads, the scores of queries from 1024 on omit the rope part"),
      meeting<DropRowsOfSquare>("drop_rows_of_square",
                                "in mode 2, queries after the last key share drop bits"),
  };
}

}  // namespace assay::mutants
