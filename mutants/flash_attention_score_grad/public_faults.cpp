#include <algorithm>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "flash_attention_score_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants {
namespace {

using spec::Layout;

constexpr std::int64_t public_tile = 64;
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

std::int64_t rounded_up(std::int64_t count, std::int64_t to) { return (count + to - 1) / to * to; }

bool has_mode(const Op::Problem& p, std::initializer_list<std::int64_t> modes) {
  return p.atten_mask != spec::MaskShape::absent &&
         std::ranges::find(modes, p.sparse_mode) != modes.end();
}

/// Calls of(row, b, n, s) for every row of a gradient. b, n and s are the batch entry, the head and
/// the position.
template <class Of>
void change_rows(DenseRows& dense, Of of) {
  visit_rows(dense.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    of(dense.row(b, n, s), b, n, s);
  });
}

void clear_row(std::span<float> row) { std::ranges::fill(row, 0.0f); }

/// Fault: the kernel pads head_dim to a multiple of 16, but the accumulator of dq to a multiple of
/// 32 channels.
struct HeadSizePaddedTwice : Kernel {
  void adjust(AttentionWork& w) const override {
    const std::int64_t dim = w.problem.head_dim;
    if (!((dim >= 65 && dim <= 82) || (dim >= 97 && dim <= 112))) return;
    change_rows(w.dq, [&](std::span<float> row, std::int64_t b, std::int64_t, std::int64_t s) {
      if (w.problem.length_q(b) >= 128 && s % 128 >= 112) clear_row(row);
    });
  }
};

/// Fault: uses the number of keys that the row sees as the row stride of the drop bits (dropout
/// mask).
struct DropBitsByVisibleKeys : Kernel {
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (!has_mode(w.problem, {2, 3})) return Kernel::drop_bit(w, q, j);
    const std::int64_t end = q.i + 1 + (w.problem.sparse_mode == 3 ? corner(w, q.b) : 0);
    const std::int64_t seen = std::clamp<std::int64_t>(end, 0, w.problem.length_kv(q.b));
    return w.first_score[static_cast<std::size_t>(q.b)] +
           (q.n * w.problem.length_q(q.b) + q.i) * seen + j;
  }
};

/// Fault: does not apply dropout to dP before it subtracts the row term (the row's sum of P dP).
struct DropMissingBeforeRowTerm : Kernel {
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return dot(w.dy.row(q.b, q.n, q.i), w.value.row(key_position(w, q, j)));
  }
};

/// Fault: the last query tile has rows beyond the last query. The bias of these rows makes P
/// overflow.
struct BiasBeyondLastQuery : Kernel {
  void adjust(AttentionWork& w) const override {
    if (w.pse.empty()) return;
    for (const Gradient which : {Gradient::dk, Gradient::dv})
      change_rows(w.gradient(which),
                  [&](std::span<float> row, std::int64_t b, std::int64_t, std::int64_t) {
                    if (w.problem.length_q(b) % public_tile != 0) std::ranges::fill(row, no_number);
                  });
  }
};

struct KeysWithoutQueriesUnwritten : Kernel {
  bool writes_row(const AttentionWork& w, Gradient which, std::int64_t b,
                  std::int64_t) const override {
    return is_of_queries(which) || w.problem.length_q(b) > 0;
  }
};

struct QueriesWithoutKeysUnwritten : Kernel {
  bool writes_row(const AttentionWork& w, Gradient which, std::int64_t b,
                  std::int64_t) const override {
    return !is_of_queries(which) || w.problem.length_kv(b) > 0;
  }
};

/// Fault: the last key tile of a head writes its excess rows over the first rows of the next head.
struct LastKeyTileOverNextHead : Kernel {
  void adjust(AttentionWork& w) const override {
    if (w.problem.input_layout != Layout::bnsd) return;
    const std::int64_t beyond = rounded_up(w.problem.seq_kv, public_tile) - w.problem.seq_kv;
    for (const Gradient which : {Gradient::dk, Gradient::dv})
      change_rows(w.gradient(which),
                  [&](std::span<float> row, std::int64_t b, std::int64_t n, std::int64_t s) {
                    if (b + n > 0 && s < beyond) clear_row(row);
                  });
  }
};

/// Returns the total number of rows of the tiles that cover the keys. There is at least one tile.
std::int64_t grid_of_keys(const AttentionWork& w, std::int64_t b) {
  return rounded_up(std::max<std::int64_t>(w.problem.length_kv(b), 1), public_tile);
}

/// Fault: computes too few row terms (sums of P dP), because it uses the number of key tiles as the
/// number of query tiles.
struct RowTermGridOfKeys : Kernel {
  float row_term(const AttentionWork& w, Query q, const RowState& row) const override {
    const bool is_computed = q.i < grid_of_keys(w, q.b);
    return is_computed ? Kernel::row_term(w, q, row) : 0;
  }
};

struct DqGridOfKeys : Kernel {
  bool writes_row(const AttentionWork& w, Gradient which, std::int64_t b,
                  std::int64_t s) const override {
    return !is_of_queries(which) || s < grid_of_keys(w, b);
  }
};

/// Fault: if the loop over full tiles runs zero times, the accumulator keeps its old contents.
template <bool of_queries>
struct AccumulatorOfNoLoop : Kernel {
  void clear(AttentionWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    const Op::Problem& p = w.problem;
    if (!(of_queries ? has_mode(p, {2, 3}) : has_mode(p, {2, 3, 7, 8}))) return;
    for (const Gradient which : {Gradient::dq, Gradient::dk, Gradient::dv})
      if (is_of_queries(which) == of_queries)
        change_rows(w.gradient(which),
                    [&](std::span<float> row, std::int64_t b, std::int64_t, std::int64_t) {
                      const std::int64_t rows = of_queries ? p.length_kv(b) : p.length_q(b);
                      if (rows <= public_tile) std::ranges::fill(row, 0.25f);
                    });
  }
};

/// Fault: computes fully masked rows like other rows. The maximum of the row is then the value of a
/// masked score, so each exponential is 1. If `is_number` is false, the result is NaN.
template <bool is_number>
struct DeadRowsComputed : Kernel {
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (!is_dead(w, q)) return Kernel::probability(w, q, j, row);
    return is_number ? 1.0f / static_cast<float>(keys(w, q.b)) : no_number;
  }
};

struct SlopesFromOtherCorner : Kernel {
  std::int64_t start_shift(const AttentionWork& w, std::int64_t b) const override {
    return Kernel::start_shift(w, b) - corner(w, b);
  }
};

/// Fault: if the longest sequence has one query, uses token b as the query of sequence b.
struct SequenceForQuery : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    if (!is_packed(p.input_layout) || p.seq_q != 1 || p.group() == 1) return w;
    for (DenseRows* dense : {&w.query, &w.dy}) {
      const DenseRows right = *dense;
      const spec::Extents& e = right.extents;
      std::vector<std::int64_t> sequences;  // the sequence of every token
      for (std::int64_t b = 0; b < p.batch; ++b)
        if (p.length_q(b) > 0) sequences.push_back(b);
      visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t) {
        const std::int64_t token = std::min(b, e.tokens() - 1);
        const auto from = right.row(sequences[static_cast<std::size_t>(token)], n, 0);
        std::ranges::copy(from, dense->row(b, n, 0).begin());
      });
    }
    return w;
  }
};

/// Fault: stores full blocks of 32 channels. The excess channels overwrite the first channels of
/// the token's next head.
template <bool of_queries>
struct EpilogueOf32Channels : Kernel {
  void adjust(AttentionWork& w) const override {
    if (!is_packed(w.problem.input_layout)) return;
    for (const Gradient which : {Gradient::dq, Gradient::dk, Gradient::dv}) {
      if (is_of_queries(which) != of_queries) continue;
      DenseRows& dense = w.gradient(which);
      const std::int64_t dim = dense.extents.dim, beyond = rounded_up(dim, 32) - dim;
      change_rows(dense, [&](std::span<float> row, std::int64_t, std::int64_t n, std::int64_t) {
        if (n > 0) clear_row(row.first(static_cast<std::size_t>(std::min(dim, beyond))));
      });
    }
  }
};

/// Fault (a race): in one of 120 runs, the kernel reads the row terms before it writes them.
struct RaceOnRowTerm : Kernel {
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    ++number_;
    Kernel::run(problem, inputs, outputs);
  }
  float row_term(const AttentionWork& w, Query q, const RowState& row) const override {
    return number_ % 120 == 60 ? 0 : Kernel::row_term(w, q, row);
  }

 private:
  std::uint64_t number_ = 0;
};

struct StatisticsInBf16 : Kernel {
  RowState row_state(const AttentionWork& w, Query q) const override {
    RowState row = Kernel::row_state(w, q);
    if (is_dead(w, q)) return row;
    row.softmax_max = rounded(row.softmax_max, spec::DType::bf16, spec::Rounding::rne);
    row.softmax_sum = rounded(row.softmax_sum, spec::DType::bf16, spec::Rounding::rne);
    return row;
  }
};

struct ProductsInTf32 : Kernel {
  DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                 const spec::Extents& extents) const override {
    DenseRows dense = Kernel::read(tensor, layout, extents);
    for (float& value : dense.values) value = shortened(value, 11);
    return dense;
  }
};

/// Fault: stores the partial sum over the heads of a group in the type of the tensors instead of
/// fp32.
struct PartialDkIn16Bits : Kernel {
  void begin_head(AttentionWork& w, std::int64_t b, std::int64_t n) const override {
    if (n % w.problem.group() == 0) return;
    for (std::int64_t j = 0; j < w.problem.length_kv(b); ++j)
      for (float& x : w.dk.row(b, kv_head(w, n), j))
        x = rounded(x, w.problem.dtype, spec::Rounding::rne);
  }
};

}  // namespace

std::vector<Mutant> public_faults() {
  constexpr Plan truncated = {.exponential = Exponential::fused_exp2,
                              .round_out = spec::Rounding::rtz};
  std::vector<Mutant> all = {
      injected<HeadSizePaddedTwice>("public_head_size_padded_twice",
                                    "rows of dq are lost if head_dim is padded to two different "
                                    "sizes"),
      injected<DropBitsByVisibleKeys>("public_drop_bits_by_visible_keys",
                                      "the row stride of drop bits is the number of visible keys"),
      injected<DropMissingBeforeRowTerm>(
          "public_drop_missing_before_row_term",
          "dropout is not applied to dP before delta (the row term) is subtracted"),
      injected<BiasBeyondLastQuery>(
          "public_bias_beyond_last_query",
          "in padding rows after the last query, the bias makes P overflow"),
      injected<KeysWithoutQueriesUnwritten>("public_keys_without_queries_unwritten",
                                            "dk and dv of sequences without queries are not "
                                            "written"),
      injected<QueriesWithoutKeysUnwritten>("public_queries_without_keys_unwritten",
                                            "dq of sequences without keys is not written"),
      injected<LastKeyTileOverNextHead>("public_last_key_tile_over_next_head",
                                        "the last key tile is written over the next head"),
      injected<RowTermGridOfKeys>("public_row_term_grid_of_keys",
                                  "delta (the row term) is computed only for the first N tiles of "
                                  "queries, where N is the number of tiles of keys"),
      injected<DqGridOfKeys>("public_dq_grid_of_keys",
                             "dq is stored only for the first N tiles of queries, where N is the "
                             "number of tiles of keys",
                             ascend_like),
      injected<AccumulatorOfNoLoop<true>>(
          "public_accumulator_of_dq_of_no_loop",
          "with at most one causal tile, dq is added to old values"),
      injected<AccumulatorOfNoLoop<false>>(
          "public_accumulator_of_dk_of_no_loop",
          "with at most one tile of queries, dk and dv are added to old values", ascend_like),
      injected<DeadRowsComputed<true>>("public_masked_rows_alike",
                                       "a fully masked row attends to all keys equally"),
      injected<DeadRowsComputed<false>>("public_masked_rows_no_numbers",
                                        "P of a fully masked row is NaN"),
      injected<SlopesFromOtherCorner>("public_slopes_from_other_corner",
                                      "distances are measured from the lower right corner"),
      injected<SequenceForQuery>(
          "public_sequence_for_query",
          "if no sequence has more than one query, token b is used as the query of sequence b"),
      injected<EpilogueOf32Channels<true>>("public_epilogue_of_dq_in_32_channels",
                                           "dq is stored 32 channels at a time"),
      injected<EpilogueOf32Channels<false>>("public_epilogue_of_dk_in_32_channels",
                                            "dk and dv are stored 32 channels at a time",
                                            ascend_like),
      injected<RaceOnRowTerm>(
          "public_race_on_row_term",
          "in one of 120 runs delta (the row term) is read before it is written"),
      injected<StatisticsInBf16>("public_statistics_in_bf16", "statistics are kept in bf16"),
      injected<ProductsInTf32>("public_products_in_tf32",
                               "the operands of matrix products are rounded to tf32"),
      injected<PartialDkIn16Bits>(
          "public_partial_dk_in_16_bits",
          "dk is summed over the heads of a group in the type of the tensors"),
      misdeclared("public_casts_truncate", "the last cast truncates", truncated, flash_like),
  };
  // A sweep (many random cases) detects these mutants (kernels with a fault). The fixed cases of
  // the kill table do not.
  for (Mutant& one : all) one.subject = Subject::many_calls;
  return all;
}

}  // namespace assay::mutants
