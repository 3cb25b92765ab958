#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct DropBitsReversed : Kernel {
  bool bit_is_set(const AttentionWork& w, std::int64_t bit) const override {
    return Kernel::bit_is_set(w, bit / 8 * 8 + (7 - bit % 8));
  }
};

/// Base class of kernels that read a wrong bit of the dropout mask for a score. Bits beyond the end
/// of the mask are read as 0.
struct DropBitsElsewhere : Kernel {
  bool bit_is_set(const AttentionWork& w, std::int64_t bit) const override {
    return bit < static_cast<std::int64_t>(w.drop_bytes.size()) * 8 && Kernel::bit_is_set(w, bit);
  }
};

struct DropRowsByteAligned : DropBitsElsewhere {
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    const std::int64_t bit = Kernel::drop_bit(w, q, j), keys_of_b = w.problem.length_kv(q.b);
    return (bit - j) / keys_of_b * ((keys_of_b + 7) / 8 * 8) + j;
  }
};

/// Fault: computes the index of a drop bit as if every sequence had the maximum length.
struct DropBitsOfLongest : DropBitsElsewhere {
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    return ((q.b * p.heads_q + q.n) * p.seq_q + q.i) * p.seq_kv + j;
  }
};

struct DropBitsOfFirstHead : Kernel {
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::drop_bit(w, {q.b, 0, q.i}, j);
  }
};

struct DropScaleMissingOnDp : Kernel {
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::dprobability(w, q, j) / inverse_keep_prob(w);
  }
};

struct DropScaleMissingOnP : Kernel {
  float dropped(const AttentionWork& w, Query q, std::int64_t j, float prob) const override {
    return Kernel::dropped(w, q, j, prob) / inverse_keep_prob(w);
  }
};

struct DropScaleTwice : Kernel {
  float inverse_keep_prob(const AttentionWork& w) const override {
    return Kernel::inverse_keep_prob(w) * Kernel::inverse_keep_prob(w);
  }
};

struct DropMissingOnDp : Kernel {
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return dot(w.dy.row(q.b, q.n, q.i), w.value.row(key_position(w, q, j)));
  }
};

struct DropOnRowTerm : Kernel {
  float dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
               const RowState& row) const override {
    return prob * (dprobability(w, q, j) - row.row_term * drop_factor(w, q, j));
  }
};

/// Fault: if keep_prob is 1, reads the drop mask (all ones) as one byte per score instead of
/// ignoring it.
struct UnusedDropMaskCounts : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    Op::Problem dropping = p;
    if (inputs.drop_mask && !p.has_dropout()) dropping.keep_prob = 0.5;
    AttentionWork w = Kernel::load(dropping, inputs);
    w.problem = p;
    return w;
  }
  bool bit_is_set(const AttentionWork& w, std::int64_t bit) const override {
    if (w.problem.has_dropout()) return Kernel::bit_is_set(w, bit);
    return bit < static_cast<std::int64_t>(w.drop_bytes.size()) &&
           w.drop_bytes[static_cast<std::size_t>(bit)] == 1;
  }
};

}  // namespace

std::vector<Mutant> dropout_mutants() {
  return {
      injected<DropBitsReversed>(
          "drop_bits_reversed",
          "drop bits are read from the highest bit of each byte to the lowest", ascend_like),
      injected<DropRowsByteAligned>(
          "drop_rows_byte_aligned",
          "every row of drop bits is read as if it began at a byte boundary"),
      injected<DropBitsOfLongest>(
          "drop_bits_of_longest",
          "drop bits are indexed as if every sequence had the maximum length"),
      injected<DropBitsOfFirstHead>("drop_bits_of_first_head",
                                    "the drop bits of head 0 are used for every head"),
      injected<DropScaleMissingOnDp>("drop_scale_missing_on_dp", "dP lacks 1/keep_prob",
                                     ascend_like),
      injected<DropScaleMissingOnP>("drop_scale_missing_on_p",
                                    "in dv, P is not multiplied by "
                                    "1/keep_prob"),
      injected<DropScaleTwice>("drop_scale_twice", "1/keep_prob is applied twice"),
      injected<DropMissingOnDp>("drop_missing_on_dp", "dP is not dropped", ascend_like),
      injected<UnusedDropMaskCounts>("unused_drop_mask_counts",
                                     "with keep_prob 1 a drop mask is read as one byte per score"),
      injected<DropOnRowTerm>(
          "drop_on_row_term",
          "dropout is applied not only to dP, but also to delta (the row term)"),
  };
}

}  // namespace assay::mutants
