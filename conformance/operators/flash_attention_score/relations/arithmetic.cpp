#include <algorithm>
#include <utility>

#include "operators/flash_attention_score/relations/relations.hpp"

namespace assay::conformance::attention::flash_forward {
namespace {

using Op = spec::FlashAttentionScore;
using Rows = reference::Operands<double>;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;

bool is_unmasked(const Op::Problem& p) {
  return p.atten_mask == spec::MaskShape::absent && p.lengths_kv.empty() && p.seq_kv > 0;
}
bool is_plain(const Op::Problem& p) {
  return is_unmasked(p) && p.pse_shift == spec::PseShape::absent && !p.has_dropout();
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

/// Sets query and sink to 0, so that every key and the sink have the same weight.
Experiment count_keys(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial trial = base;
  std::ranges::fill(trial.rows.query, 0.0);
  std::ranges::fill(trial.rows.query_rope, 0.0);
  std::ranges::fill(trial.rows.sink, 0.0);
  const std::int64_t scores = p.seq_kv + (p.has_sink() ? 1 : 0);
  const auto rows = static_cast<std::size_t>(query_extents(p).rows());
  return known(std::move(trial),
               {{"softmax_max", std::vector<double>(rows, 0.0)},
                {"softmax_sum", std::vector<double>(rows, static_cast<double>(scores))}});
}

/// The relation does not apply to problems with rows without keys: the maximum of such a row is the
/// sink itself.
bool has_sink_and_keys(const Op::Problem& p) { return p.has_sink() && is_unmasked(p); }

Experiment low_sink(const Trial& base) {
  Trial low = base, without = base;
  std::ranges::fill(low.rows.sink, -1e30);
  without.problem.sink = spec::SinkShape::absent;
  without.rows.sink.clear();
  return unchanged(std::move(low), std::move(without));
}

constexpr std::string_view everything = "everything";
constexpr Relation<Op> relations[] = {
    {"scale_value",
     "If value is multiplied by a power of two, so is the output; the statistics do not change.",
     Agreement::bits, is_not_fp16,
     "bf16 and fp32, if all values are far from overflow and underflow", scale_value},
    {"zero_value", "If value is zero, the output is zero; the statistics do not change.",
     Agreement::bits, is_anything, everything, zero_value},
    {"linear_value",
     "If value is the sum of two tensors, the output is the sum of the two outputs.",
     Agreement::bound, is_anything, everything, linear_value},
    {"count_keys",
     "If query and sink are zero, softmax_max is zero and softmax_sum is the number of keys, plus "
     "1 "
     "with a sink.",
     Agreement::bits, is_plain, "calls without mask, bias and dropout, with equal lengths",
     count_keys},
    {"low_sink", "With sinks of -10^30 every output is the same as without a sink.",
     Agreement::bound, has_sink_and_keys, "calls with a sink and without a mask", low_sink}};

}  // namespace

std::span<const Relation<Op>> arithmetic_relations() { return relations; }

}  // namespace assay::conformance::attention::flash_forward
