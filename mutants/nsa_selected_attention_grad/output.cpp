#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants::selected {
namespace {

/// Fault: after every addition, rounds the sums of one gradient to the type of the tensors.
template <Gradient low>
struct LowAccumulator : Kernel {
  void add_scaled(const SelectedWork& w, Gradient which, std::span<float> sum, float factor,
                  std::span<const float> row) const override {
    Kernel::add_scaled(w, which, sum, factor, row);
    if (which == low)
      for (float& value : sum) value = cast(w, value);
  }
};

/// Fault: uses elements [b] and [b + 1] of the cumulative sums as the start and end of sequence b,
/// as if the array started with 0.
struct LeadingZeroExpected : Kernel {
  std::int64_t first_batch() const override { return 1; }
};

struct LastSequenceSkipped : Kernel {
  std::int64_t end_batch(const SelectedWork& w) const override { return w.problem.batch - 1; }
};

struct LastHeadSkipped : Kernel {
  std::int64_t heads(const SelectedWork& w) const override { return w.problem.heads_q - 1; }
};

struct LastTokenSkipped : Kernel {
  std::int64_t tokens(const SelectedWork& w, std::int64_t b) const override {
    return w.problem.length_q(b) - 1;
  }
};

struct ShortSequencesOnly : Kernel {
  std::int64_t tokens(const SelectedWork& w, std::int64_t b) const override {
    return std::min(w.problem.length_q(b), w.problem.length_q(0));
  }
};

/// Fault: clears the contribution of a token when the next head of the group starts.
struct ClearedByNextHead : Kernel {
  void begin_head(SelectedWork& w, std::int64_t b, std::int64_t n) const override {
    for (std::int64_t j = 0; j < w.problem.length_kv(b); ++j)
      std::ranges::fill(w.dk.row(b, kv_head(w, n), j), 0.0f);
  }
};

/// Fault: does not write the rows of dk and dv for keys that are in no list.
struct UnlistedKeysNotWritten : Kernel {
  bool writes_row(const SelectedWork& w, Gradient which,
                  const spec::RowPosition& at) const override {
    if (which == Gradient::dq) return true;
    const std::span<const float> row = w.dv.row(at);
    return std::ranges::any_of(row, [](float value) { return value != 0; });
  }
};

/// Fault: adds the old contents of dk to the result.
struct OutputsNotCleared : Kernel {
  void clear(SelectedWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    w.dk = read(outputs.dk, key_extents(w.problem));
  }
};

/// Fault: starts the sums of dk at 1/2 instead of 0.
struct WorkspaceNotZeroed : Kernel {
  void clear(SelectedWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    std::ranges::fill(w.dk.values, 0.5f);
  }
};

/// Fault: rounds query before it is used in the product that forms dk.
struct LowQuery : Kernel {
  void add_scaled(const SelectedWork& w, Gradient which, std::span<float> sum, float factor,
                  std::span<const float> row) const override {
    if (which != Gradient::dk) return Kernel::add_scaled(w, which, sum, factor, row);
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * shortened(row[d], 6);
  }
};

struct AllZeros : Kernel {
  void adjust(SelectedWork& w) const override {
    for (const Gradient which : {Gradient::dq, Gradient::dk, Gradient::dv})
      std::ranges::fill(w.gradient(which).values, 0.0f);
  }
};

Mutant misdeclared(const std::string& name, std::string bug, const Plan& plan,
                   const Plan& declared) {
  return misdeclared_in<Op, Kernel>(name, std::move(bug), plan, declared);
}

}  // namespace

std::vector<Mutant> output_mutants() {
  using spec::Order;
  using spec::Rounding;
  constexpr Plan truncated = {
      .masked = MaskedScore::replaced, .round_stage = Rounding::rna, .round_out = Rounding::rtz};
  return {
      injected<LowAccumulator<Gradient::dk>>("low_accumulator_dk",
                                             "dk is accumulated in the type of the tensors"),
      injected<LowAccumulator<Gradient::dv>>(
          "low_accumulator_dv", "dv is accumulated in the type of the tensors", ascend_like),
      injected<LowAccumulator<Gradient::dq>>("low_accumulator_dq",
                                             "dq is accumulated in the type of the tensors"),
      injected<LeadingZeroExpected>("leading_zero_expected",
                                    "treats the first cumulative length as if it were a leading 0"),
      injected<LastSequenceSkipped>("last_sequence_left_out", "the last sequence adds nothing",
                                    ascend_like),
      injected<LastHeadSkipped>("last_head_left_out", "the last query head adds nothing"),
      injected<LastTokenSkipped>("last_token_skipped", "the last token of a sequence adds nothing"),
      injected<ShortSequencesOnly>(
          "short_sequences_only",
          "every sequence is cut to the number of queries of the first sequence"),
      injected<ClearedByNextHead>("cleared_by_next_head",
                                  "each query head clears the dk of its key head", ascend_like),
      injected<UnlistedKeysNotWritten>("unlisted_keys_not_written",
                                       "keys that no list names keep their old dk and dv"),
      injected<OutputsNotCleared>("outputs_not_cleared",
                                  "dk is added to the old contents of its memory"),
      injected<WorkspaceNotZeroed>("workspace_not_zeroed",
                                   "the sums of dk start with the old contents of a workspace"),
      injected<LowQuery>("low_query", "in dk, query is rounded to 6 significant bits"),
      injected<AllZeros>("all_zeros", "all gradients are zero"),
      misdeclared("truncating_cast", "the last cast truncates", truncated, ascend_like),
      misdeclared("truncating_staging", "P and dS are truncated", {.round_stage = Rounding::rtz},
                  {}),
      misdeclared("staging_undeclared", "P and dS are staged, but declared as fp32", {},
                  {.staging = Staging::fp32}),
      misdeclared("order_undeclared", "tiles are shuffled, but a fixed order is declared",
                  {.query_tile = 2, .key_tile = 1, .tile_order = TileOrder::shuffled},
                  {.query_tile = 2, .key_tile = 1, .order = Order::fixed}),
      misdeclared("quadratic_exp", "exp is accurate to 2^-8",
                  {.exponential = Exponential::quadratic}, {}),
  };
}

}  // namespace assay::mutants::selected
