#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "flash_attention_score_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants {
namespace {

using spec::DType;

Plan plan_of(const spec::NumericsPreset& preset) {
  const spec::Numerics numerics = preset.of_scores(DType::bf16);
  return {.exponential = numerics.fused ? Exponential::fused_exp2 : Exponential::library,
          .staging = numerics.stage == DType::bf16 ? Staging::io_type : Staging::fp32,
          .round_stage = numerics.round_stage,
          .round_out = numerics.round_out,
          .stats = numerics.stats,
          .delta = numerics.delta};
}

/// Computes every step as a preset (a named description of a known kernel's roundings) declares it:
/// rounds exactly the values that the preset stores.
class PresetKernel : public Kernel {
 public:
  explicit PresetKernel(const spec::NumericsPreset& preset)
      : Kernel("preset_" + std::string(preset.name), plan_of(preset)), preset_(preset) {}

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return preset_.of_scores(problem.dtype);
  }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    const spec::Numerics numerics = preset_.of_scores(call.parameters.query.dtype);
    if (numerics.operand_scaled && call.parameters.pse_shift.present)
      return "this kernel does not support a position bias";
    return std::nullopt;
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    numerics_ = numerics(problem);
    Kernel::run(problem, inputs, outputs);
  }

 protected:
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    if (!numerics_.operand_scaled) return w;
    for (DenseRows* keys : {&w.key, &w.key_rope})
      for (float& x : keys->values) x = even(x * Kernel::scale(w), p.dtype);
    return w;
  }
  void clear(AttentionWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    of_heads_ = {w.dk, w.dv, w.dk_rope};
  }
  void begin_head(AttentionWork& w, std::int64_t, std::int64_t) const override {
    for (std::size_t k = 0; k < of_heads_.size(); ++k)
      for (std::size_t x = 0; x < of_heads_[k].values.size(); ++x) {
        float& partial = w.gradient(of_keys[k]).values[x];
        of_heads_[k].values[x] += even(partial * gradient_scale(w, of_keys[k]), numerics_.partials);
        partial = 0;
      }
  }
  void adjust(AttentionWork& w) const override {
    for (std::size_t k = 0; k < of_heads_.size(); ++k)
      for (std::size_t x = 0; x < of_heads_[k].values.size(); ++x) {
        float& partial = w.gradient(of_keys[k]).values[x];
        partial = of_heads_[k].values[x] + even(partial, numerics_.partials);
      }
  }
  float scale(const AttentionWork& w) const override {
    return numerics_.operand_scaled ? 1 : Kernel::scale(w);
  }
  float gradient_scale(const AttentionWork& w, Gradient which) const override {
    const bool is_of_key = which == Gradient::dk || which == Gradient::dk_rope;
    return is_of_key ? Kernel::scale(w) : Kernel::gradient_scale(w, which);
  }
  float score(const AttentionWork& w, Query q, std::int64_t j) const override {
    return even(Kernel::score(w, q, j), numerics_.store_s);
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (!numerics_.lse_form) return Kernel::probability(w, q, j, row);
    if (!keeps(w, q, j)) return 0;
    const float shift = row.softmax_max + std::log(row.softmax_sum);
    return std::exp2(std::fma(score(w, q, j), log2_e, -shift * log2_e));
  }
  float dropped(const AttentionWork& w, Query q, std::int64_t j, float prob) const override {
    return Kernel::dropped(w, q, j, even(prob, numerics_.store_p));
  }
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return even(Kernel::dprobability(w, q, j), numerics_.store_dp);
  }
  float dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
               const RowState& row) const override {
    return Kernel::dscore(w, q, j, even(prob, numerics_.store_p), row);
  }
  float row_term(const AttentionWork& w, Query q, const RowState& row) const override {
    if (plan().delta == spec::RowTerm::given) return Kernel::row_term(w, q, row);
    float sum = 0;
    for (std::int64_t j = 0; j < keys(w, q.b); ++j)
      sum += even(probability(w, q, j, row), numerics_.store_p) * dprobability(w, q, j);
    return sum;
  }

 private:
  static float even(float value, DType type) { return rounded(value, type, spec::Rounding::rne); }

  static constexpr Gradient of_keys[] = {Gradient::dk, Gradient::dv, Gradient::dk_rope};

  const spec::NumericsPreset& preset_;
  spec::Numerics numerics_;
  mutable std::vector<DenseRows>
      of_heads_;  ///< sums of the earlier heads, each partial sum rounded
};

}  // namespace

std::vector<Mutant> preset_kernels() {
  std::vector<Mutant> all;
  for (const spec::NumericsPreset& preset : spec::numerics_presets())
    all.push_back({.name = "preset_" + std::string(preset.name),
                   .bug = "rounds exactly as the preset declares",
                   .healthy = true,
                   .subject = Subject::numbers,
                   .make = [&preset] { return std::make_unique<PresetKernel>(preset); }});
  using spec::Origin;
  using spec::Rounding;
  const auto own = [&](const std::string& name, const Plan& plan) {
    all.push_back(healthy_in<Op, Kernel>(
        name, "computes softmax_max and softmax_sum itself instead of reading them", plan));
  };
  own("own_statistics_staged", {.stats = Origin::own, .delta = spec::RowTerm::own});
  own("own_statistics_given_row_term", {.round_out = Rounding::rna, .stats = Origin::own});
  own("own_statistics_fused", {.exponential = Exponential::fused_exp2,
                               .staging = Staging::fp32,
                               .stats = Origin::own,
                               .delta = spec::RowTerm::own});
  return all;
}

}  // namespace assay::mutants
