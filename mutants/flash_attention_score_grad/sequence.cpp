#include <algorithm>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

bool is_packed(const Op::Problem& p) { return is_packed(p.input_layout); }

struct CornerOfLongest : Kernel {
  std::int64_t corner(const AttentionWork& w, std::int64_t) const override {
    return w.problem.seq_kv - w.problem.seq_q;
  }
};

/// Fault: counts an empty sequence as one token when it computes the start of the next sequence.
struct EmptyCountsAsOne : Kernel {
  DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                 const spec::Extents& e) const override {
    if (!is_packed(layout)) return Kernel::read(tensor, layout, e);
    DenseRows dense = filled(e, 0);
    std::size_t next = 0;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      std::int64_t token = e.start(b) + s;
      for (std::int64_t earlier = 0; earlier < b; ++earlier) token += e.length(earlier) == 0;
      const std::int64_t row = std::min(token, e.tokens() - 1) * tensor.strides[0];
      for (std::int64_t d = 0; d < e.dim; ++d)
        dense.values[next++] = static_cast<float>(
            tensor.load(tensor.offset + row + n * tensor.strides[1] + d * tensor.strides[2]));
    });
    return dense;
  }
};

struct LastSequenceSkipped : Kernel {
  bool visits(const AttentionWork& w, std::int64_t b, const Tile&) const override {
    const Op::Problem& p = w.problem;
    std::int64_t last = p.batch - 1;
    while (last > 0 && p.length_q(last) * p.length_kv(last) == 0) --last;
    return !is_packed(p) || b != last;
  }
};

struct StopsAtEmptySequence : Kernel {
  std::int64_t batches(const AttentionWork& w) const override {
    std::int64_t b = 0;
    while (b < w.problem.batch && w.problem.length_q(b) * w.problem.length_kv(b) > 0) ++b;
    return b;
  }
};

/// Fault: divides the accumulated row by softmax_sum at the end, even for queries without keys.
struct DividesByNoSum : Kernel {
  void adjust(AttentionWork& w) const override {
    visit_rows(w.dq.extents, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
      if (w.problem.length_kv(b) > 0) return;
      for (float& x : w.dq.row(b, n, i)) x /= w.softmax_sum.row(b, n, i)[0];
    });
  }
};

/// Fault: gives every sequence as many keys as the longest sequence, but not more than the number
/// of tokens.
struct KeysOfNextSequence : Kernel {
  std::int64_t keys(const AttentionWork& w, std::int64_t b) const override {
    const spec::Extents& e = w.key.extents;
    return std::min(w.problem.seq_kv, e.tokens() - e.start(b));
  }
  spec::RowPosition key_position(const AttentionWork& w, Query q, std::int64_t j) const override {
    spec::RowPosition at = Kernel::key_position(w, q, j);
    while (at.s >= w.key.extents.length(at.b)) at.s -= w.key.extents.length(at.b++);
    return at;
  }
  float bias(const AttentionWork& w, Query q, std::int64_t j) const override {
    return j < w.problem.length_kv(q.b) ? Kernel::bias(w, q, j) : 0;
  }
  float drop_factor(const AttentionWork& w, Query q, std::int64_t j) const override {
    return j < w.problem.length_kv(q.b) ? Kernel::drop_factor(w, q, j) : 1;
  }
};

struct EmptySideUnwritten : Kernel {
  bool writes_row(const AttentionWork& w, Gradient, std::int64_t b, std::int64_t) const override {
    return w.problem.length_q(b) * w.problem.length_kv(b) > 0;
  }
};

/// Fault: reads the user mask of TND with the sequence's own number of keys as the row stride.
struct MaskRowsOfSequence : Kernel {
  bool excluded(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (!is_packed(w.problem)) return Kernel::excluded(w, q, j);
    const std::int64_t element = q.i * w.problem.length_kv(q.b) + j;
    return Kernel::excluded(w, {q.b, q.n, element / w.problem.seq_kv}, element % w.problem.seq_kv);
  }
};

}  // namespace

std::vector<Mutant> sequence_mutants() {
  return {
      injected<CornerOfLongest>("corner_of_longest",
                                "the lower right corner is computed from the longest sequences"),
      injected<EmptyCountsAsOne>("empty_counts_as_one",
                                 "after an empty sequence, tokens are read one position too late",
                                 ascend_like),
      injected<LastSequenceSkipped>("last_sequence_skipped",
                                    "the last sequence of TND contributes nothing"),
      injected<DividesByNoSum>("divides_by_no_sum",
                               "dq of queries without keys is divided by softmax_sum"),
      injected<StopsAtEmptySequence>("stops_at_empty_sequence",
                                     "sequences after an empty one contribute nothing",
                                     ascend_like),
      injected<KeysOfNextSequence>("keys_of_next_sequence",
                                   "every sequence attends to N keys, where N is the number of "
                                   "keys of the longest sequence"),
      injected<EmptySideUnwritten>(
          "empty_side_unwritten", "gradients of sequences without queries or keys are not written"),
      injected<MaskRowsOfSequence>(
          "mask_rows_of_sequence",
          "the row stride of the mask is the number of the sequence's own keys"),
  };
}

}  // namespace assay::mutants
