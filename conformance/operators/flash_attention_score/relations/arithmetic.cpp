#include <algorithm>
#include <utility>

#include "operators/flash_attention_score/relations/relations.hpp"

namespace assay::conformance::attention::flash_forward {
namespace {

using Op = spec::FlashAttentionScore;
using Rows = reference::Operands<double>;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;

bool is_plain(const Op::Problem& p) {
  return p.atten_mask == spec::MaskShape::absent && p.pse_shift == spec::PseShape::absent &&
         !p.has_dropout() && p.lengths_kv.empty() && p.seq_kv > 0;
}
Experiment scale_value(const Trial& base) { return scaled(base, &Rows::value, {"attention_out"}); }

Experiment zero_value(const Trial& base) {
  Trial empty = base;
  std::ranges::fill(empty.rows.value, 0.0);
  Experiment experiment = unchanged(base, std::move(empty));
  std::swap(experiment.base, experiment.variants[0]);
  experiment.combine = [](const std::vector<OutputValues>& outputs) {
    OutputValues all = outputs[0];
    std::ranges::fill(all.at("attention_out"), 0.0);
    return all;
  };
  return experiment;
}

Experiment linear_value(const Trial& base) {
  return cut_in_two(base, &Rows::value, {"attention_out"});
}

/// Sets query to 0: every key has the same weight.
Experiment count_keys(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial trial = base;
  std::ranges::fill(trial.rows.query, 0.0);
  std::ranges::fill(trial.rows.query_rope, 0.0);
  const auto rows = static_cast<std::size_t>(query_extents(p).rows());
  return known(std::move(trial),
               {{"softmax_max", std::vector<double>(rows, 0.0)},
                {"softmax_sum", std::vector<double>(rows, static_cast<double>(p.seq_kv))}});
}

constexpr std::string_view everything = "everything";
constexpr Relation<Op> relations[] = {
    {"scale_value",
     "If value is multiplied by a power of two, so is the output; the statistics do not change.",
     Agreement::bits, is_not_fp16, "bf16 and fp32, on numbers far from overflow and underflow",
     scale_value},
    {"zero_value", "If value is zero, the output is zero; the statistics do not change.",
     Agreement::bits, is_anything, everything, zero_value},
    {"linear_value", "The output of a sum of two values is the sum of their outputs.",
     Agreement::bound, is_anything, everything, linear_value},
    {"count_keys", "If query is zero, softmax_max is zero and softmax_sum is the number of keys.",
     Agreement::bits, is_plain, "calls without mask, bias and dropout, with equal lengths",
     count_keys}};

}  // namespace

std::span<const Relation<Op>> arithmetic_relations() { return relations; }

}  // namespace assay::conformance::attention::flash_forward
