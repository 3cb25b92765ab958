#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flash_attention_score_grad/families.hpp"
#include "flash_attention_score_grad/kernel/sequence_by_sequence.hpp"

namespace assay::mutants {
namespace {

/// A correct variant: computes P = exp(S - (m + ln z)), where m is the maximum and z the sum of the
/// row. Only for fp16 and bf16: in fp32 the rounding error of m + ln z would be visible.
struct LogSumExp : Kernel {
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    if (call.parameters.query.dtype != spec::DType::fp32) return std::nullopt;
    return "this kernel does not support fp32";
  }
  spec::Numerics numerics(const Op::Problem& problem) const override {
    spec::Numerics declared = Kernel::numerics(problem);
    declared.lse_form = true;
    return declared;
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (!keeps(w, q, j)) return 0;
    return std::exp(score(w, q, j) - (row.softmax_max + std::log(row.softmax_sum)));
  }
};

/// A correct variant: computes the rope product first and adds the other products to it.
struct RopeFirst : Kernel {
  float product(const AttentionWork& w, Query q, std::int64_t j) const override {
    return dot(w.query.row(q.b, q.n, q.i), w.key.row(key_position(w, q, j)),
               Kernel::rope_product(w, q, j, 0));
  }
  float rope_product(const AttentionWork&, Query, std::int64_t, float sum) const override {
    return sum;
  }
};

/// A correct variant: replaces results below the smallest normal fp32 number by zero, as some
/// devices do.
struct FlushToZero : Kernel {
  static float flushed(float value) {
    return std::abs(value) < std::numeric_limits<float>::min() ? 0.0F : value;
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    return flushed(Kernel::probability(w, q, j, row));
  }
  float dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
               const RowState& row) const override {
    return flushed(Kernel::dscore(w, q, j, prob, row));
  }
  float cast(const AttentionWork& w, float value) const override {
    return Kernel::cast(w, flushed(value));
  }
};

/// A correct variant: expands the drop bits to one byte each before the computation.
struct DropBytes : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    std::vector<std::uint8_t> spread;
    for (std::uint8_t byte : w.drop_bytes)
      for (int bit = 0; bit < 8; ++bit, byte = static_cast<std::uint8_t>(byte >> 1))
        spread.push_back(byte & 1);
    w.drop_bytes = std::move(spread);
    return w;
  }
  bool bit_is_set(const AttentionWork& w, std::int64_t bit) const override {
    return w.drop_bytes[static_cast<std::size_t>(bit)] == 1;
  }
};

/// A correct variant: finds the element of a compressed bias by the distance of the pair from the
/// diagonal, as the device does.
struct ToeplitzLookup : Kernel {
  std::int64_t compressed_pse_element(const AttentionWork& w, Query q,
                                      std::int64_t j) const override {
    constexpr std::int64_t rows = spec::compressed_pse_rows;
    const std::int64_t columns = w.problem.seq_kv;
    if (is_packed(w.problem.input_layout)) {
      const std::int64_t position = q.i - j - (columns - rows);
      return position >= 0 ? position * columns : std::min(-position, columns - 1);
    }
    const std::int64_t first = w.problem.seq_q - rows;
    if (q.i >= first) return (q.i - first) * columns + j;
    const std::int64_t row = q.i % rows;
    return row * columns + std::clamp<std::int64_t>(j - q.i + row + columns - rows, 0, columns - 1);
  }
};

/// A correct variant: reads the drop mask even if keep_prob is 1. All bits of the mask are then 1.
struct DropMaskAlwaysRead : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    Op::Problem dropping = p;
    if (inputs.drop_mask && !p.has_dropout()) dropping.keep_prob = 0.5;
    AttentionWork w = Kernel::load(dropping, inputs);
    w.problem = p;
    return w;
  }
};

/// A correct variant: reads every element of the compressed mask from the slice of its sequence and
/// head, as the device does tile by tile.
struct TriangleLookup : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask == nullptr || !is_compressed(w.problem.atten_mask))
      return Kernel::keeps(w, q, j);
    const std::int64_t mode = sparse_mode(w, q.b);
    const std::int64_t diagonal = q.i + (mode == 2 ? 0 : corner(w, q.b));
    if (mode == 4)
      return is_kept(w, q, diagonal + w.problem.next_tokens - j) &&
             !is_kept(w, q, diagonal - w.problem.pre_tokens - 1 - j);
    return is_kept(w, q, diagonal - j) || (mode == 6 && j < prefix(w, q.b));
  }

 private:
  /// Returns the mask element that is `left` columns to the left of the diagonal. The position is
  /// clamped to the edges of the mask pattern.
  bool is_kept(const AttentionWork& w, Query q, std::int64_t left) const {
    constexpr std::int64_t last = spec::compressed_mask_edge - 1;
    const std::int64_t row = std::clamp<std::int64_t>(left, 0, last);
    return !excluded(w, {q.b, q.n, row}, std::clamp<std::int64_t>(-left, 0, last));
  }
};

template <class Variant = Kernel>
Mutant healthy(const std::string& name, std::string choice, const Plan& plan) {
  return healthy_in<Op, Variant>(name, std::move(choice), plan);
}

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using spec::Order;
  using spec::Origin;
  using spec::Rounding;
  return {
      healthy("ascend_like", "rounds casts half away from zero, replaces masked scores by -FLT_MAX",
              ascend_like),
      healthy("flash_like", "computes exp as exp2 of one fused multiply-add, casts round to even",
              flash_like),
      healthy<LogSumExp>("log_sum_exp",
                         "uses softmax_max + ln softmax_sum instead of the two statistics", {}),
      healthy("fixed_order", "declares bit-identical reruns", {.order = Order::fixed}),
      healthy("shuffled_tiles", "processes tiles in a different order in every run",
              {.query_tile = 8, .key_tile = 8, .tile_order = TileOrder::shuffled}),
      healthy("odd_tiles", "tiles of 7 queries and 33 keys, last tile first",
              {.query_tile = 7,
               .key_tile = 33,
               .tile_order = TileOrder::descending,
               .round_stage = Rounding::rna,
               .round_out = Rounding::rna}),
      healthy("single_rows", "tiles of one query and one key", {.query_tile = 1, .key_tile = 1}),
      healthy("fp32_staging_even", "P and dS stay fp32, casts round to even",
              {.exponential = Exponential::fused_exp2, .staging = Staging::fp32}),
      healthy("fp32_staging_away", "P and dS stay fp32, casts round half away from zero",
              {.staging = Staging::fp32, .round_stage = Rounding::rna, .round_out = Rounding::rna}),
      healthy("polynomial_exp", "exp is a polynomial, with a declared error of 2^-20",
              {.exponential = Exponential::polynomial}),
      healthy("own_statistics",
              "recomputes softmax_max, softmax_sum and delta (the row term), and declares this",
              {.staging = Staging::fp32, .stats = Origin::own, .delta = spec::RowTerm::own}),
      healthy("own_row_term",
              "computes delta (the row term) from its own staged P, and declares this",
              {.delta = spec::RowTerm::own}),
      healthy("own_output",
              "recomputes statistics and output to compute delta (the row term), and declares this",
              {.stats = Origin::own, .delta = spec::RowTerm::own_output}),
      healthy("truncating", "staging and output truncate and saturate, as declared",
              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy("clamped_exp", "the argument of exp never falls below -88",
              {.exponential = Exponential::clamped, .masked = MaskedScore::replaced}),
      healthy<SequenceBySequence>(
          "sequence_by_sequence",
          "one run for every sequence of TND, on tensors cut out of the packed ones", ascend_like),
      healthy<RopeFirst>("rope_first", "accumulates the rope part of a score first", flash_like),
      healthy<FlushToZero>("flush_to_zero", "flushes subnormal numbers to zero", ascend_like),
      healthy<FlushToZero>("flush_to_zero_fp32",
                           "flushes subnormal numbers to zero, P and dS stay fp32",
                           {.staging = Staging::fp32}),
      healthy<DropBytes>("drop_bytes", "expands the drop bits to one byte each", ascend_like),
      healthy<DropMaskAlwaysRead>("drop_mask_always_read",
                                  "reads the drop mask even if keep_prob is 1", ascend_like),
      healthy<TriangleLookup>("triangle_lookup",
                              "reads the mask of each pair from the slices of a compressed mask",
                              ascend_like),
      healthy<ToeplitzLookup>("toeplitz_lookup",
                              "finds elements of a compressed bias by their "
                              "distance",
                              ascend_like),
      healthy<SequenceBySequence>("sequence_by_sequence_fp32",
                                  "one run for every sequence of TND, P and dS in fp32",
                                  {.exponential = Exponential::fused_exp2,
                                   .staging = Staging::fp32,
                                   .order = Order::fixed}),
      healthy<RopeFirst>("rope_first_truncating",
                         "adds the rope part of a score first, every rounding truncates",
                         {.query_tile = 5,
                          .key_tile = 9,
                          .round_stage = Rounding::rtz,
                          .round_out = Rounding::rtz}),
  };
}

}  // namespace assay::mutants
