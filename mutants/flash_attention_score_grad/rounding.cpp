#include "rounding.hpp"

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct LowAccumulatorDq : Kernel {
  void add_scaled(const AttentionWork& w, Gradient which, std::span<float> sum, float factor,
                  std::span<const float> row) const override {
    Kernel::add_scaled(w, which, sum, factor, row);
    if (!is_of_queries(which)) return;
    for (float& value : sum) value = rounded(value, w.problem.dtype, spec::Rounding::rne);
  }
};

struct LowAccumulatorDkDv : Kernel {
  void add_scaled(const AttentionWork& w, Gradient which, std::span<float> sum, float factor,
                  std::span<const float> row) const override {
    Kernel::add_scaled(w, which, sum, factor, row);
    if (is_of_queries(which)) return;
    for (float& value : sum) value = rounded(value, w.problem.dtype, spec::Rounding::rne);
  }
};

struct ScoresRounded : Kernel {
  float product(const AttentionWork& w, Query q, std::int64_t j) const override {
    return rounded(Kernel::product(w, q, j), w.problem.dtype, spec::Rounding::rne);
  }
};

struct DprobabilityRounded : Kernel {
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return rounded(Kernel::dprobability(w, q, j), w.problem.dtype, spec::Rounding::rne);
  }
};

struct Tf32Operands : Kernel {
  DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                 const spec::Extents& extents) const override {
    DenseRows dense = Kernel::read(tensor, layout, extents);
    for (float& value : dense.values) value = shortened(value, 11);
    return dense;
  }
};

}  // namespace

std::vector<Mutant> rounding_mutants() {
  using spec::Rounding;
  constexpr Plan even = {};
  constexpr Plan away_out = {.round_out = Rounding::rna},
                 away_stage = {.round_stage = Rounding::rna};
  constexpr Plan even_out = {.masked = MaskedScore::replaced, .round_stage = Rounding::rna};
  constexpr Plan truncated_out = {
      .masked = MaskedScore::replaced, .round_stage = Rounding::rna, .round_out = Rounding::rtz};
  return {
      injected<LowAccumulatorDq>("low_accumulator_dq",
                                 "dq is accumulated in the type of the tensors", ascend_like),
      injected<LowAccumulatorDkDv>("low_accumulator_dk_dv",
                                   "dk and dv are accumulated in the type of the tensors"),
      misdeclared("truncating_cast", "the last cast truncates", truncated_out, ascend_like),
      misdeclared("truncating_staging", "P and dS are truncated", {.round_stage = Rounding::rtz},
                  even),
      misdeclared("ties_away_in_cast",
                  "the last cast rounds ties away from zero, but ties to even is declared",
                  away_out, even),
      misdeclared("ties_even_in_cast",
                  "the last cast rounds ties to even, but away from zero is declared", even_out,
                  ascend_like),
      misdeclared("ties_away_in_staging",
                  "staging rounds ties away from zero, but ties to even is declared", away_stage,
                  even),
      misdeclared("bf16_staging",
                  "P and dS are staged in bf16, whatever the type of the tensors is",
                  {.staging = Staging::bf16}, even),
      misdeclared("staging_undeclared",
                  "P and dS are staged in the type of the tensors, declared as fp32", even,
                  {.staging = Staging::fp32}),
      misdeclared("quadratic_exp", "exp is accurate to 2^-8",
                  {.exponential = Exponential::quadratic}, even),
      misdeclared("power_of_exp_in_16_bits",
                  "exp stores its power of two in 16 bits, which a bias of -10^9 overflows",
                  {.exponential = Exponential::wrapping}, even),
      injected<ScoresRounded>("scores_rounded",
                              "query key^T is rounded to the type of the tensors"),
      injected<DprobabilityRounded>("dprobability_rounded",
                                    "dy value^T is rounded to the type of the tensors",
                                    {.staging = Staging::fp32}),
      injected<Tf32Operands>("tf32_operands",
                             "the operands of matrix products are rounded to 11 significant bits"),
      misdeclared("order_not_fixed",
                  "the order of tiles changes from run to run, but a fixed order is declared",
                  {.query_tile = 4, .key_tile = 4, .tile_order = TileOrder::shuffled},
                  {.order = spec::Order::fixed}),
  };
}

}  // namespace assay::mutants
