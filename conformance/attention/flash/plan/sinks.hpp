#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "attention/flash/plan/calls.hpp"
#include "attention/flash/plan/drawn.hpp"
#include "attention/flash/plan/short.hpp"
#include "plan/hand_made_cases.hpp"

/// Generates the cases of entry points with a sink. Each case comes from a case of the entry point
/// with the same parameters except sink and dsink.
namespace assay::conformance::attention::flash {

/// For each possible violation of a requirement, adds one call that violates no other requirement,
/// if such a call exists.
template <class Op>
void add_sink_violations(const std::vector<Case<Op>>& calls, std::vector<Case<Op>>& cases) {
  std::size_t turn = 0;
  for (const auto& requirement : Op::requirements()) {
    if (!requirement.has(spec::Side::reject)) continue;
    for (const auto& violation : requirement.violations)
      if (auto c = broken_call(calls, requirement, violation.name, turn++))
        cases.push_back(*std::move(c));
  }
}

template <class Op>
void add_sink_variants(const std::vector<Case<Op>>& calls, std::vector<Case<Op>>& cases) {
  std::size_t turn = 0;
  for (const auto& requirement : Op::requirements())
    for (const auto& variant : requirement.variants)
      if (auto c = varied_call(calls, requirement, variant.name, turn++))
        cases.push_back(*std::move(c));
}

/// Takes drawn cases of track bound (judged with tolerances) and adds a sink. The cases come from
/// the entry point with the same parameters except the sink. If the entry point with a sink does
/// not accept the type of a case, the type changes.
template <class Op>
void add_drawn_sinks(const SamplingPlan& plan, typename Op::EntryPoint entry_point,
                     std::vector<Case<Op>>& cases) {
  constexpr std::string_view patterns[] = {"near", "mixed", "plus_10", "minus_10"};
  SamplingPlan other = plan;
  other.seed += std::uint64_t{1} << 32;  // draws other cases than the plan itself
  std::size_t turn = 0;
  for (Case<Op> c : drawn<Op>().random(other)) {
    using T = Traits<Op>;
    const bool is_alike = is_unpadding(entry_point)
                              ? c.entry_point == T::packed_typed || c.entry_point == T::roped
                              : c.entry_point == T::dense_typed;
    if (!is_alike || c.track != Track::bound) continue;
    c.entry_point = entry_point;
    if (!takes_fp32(entry_point) && c.problem.dtype == spec::DType::fp32)
      c.problem.dtype = spec::DType::bf16;
    c.problem.slope_dtype = spec::DType::fp32;
    c.problem.sink = spec::SinkShape::per_head;
    c.patterns.sink_size = patterns[turn++ % std::size(patterns)];
    c.note = "a sink";
    if (forbidden_by(c).empty()) cases.push_back(std::move(c));
  }
}

/// Adds small packed cases with a sink. Some of their sequences are empty.
template <class Op>
void add_short_sinks(const SamplingPlan& plan, typename Op::EntryPoint entry_point,
                     std::vector<Case<Op>>& cases) {
  const std::uint64_t lots = stream(plan.seed, Stream::sampling).bits(20);
  for (std::int64_t longest = 1; longest <= 3; ++longest)
    for (const ShortSide side : {ShortSide::query, ShortSide::key, ShortSide::both}) {
      Draws draws(lots + cases.size());
      Case<Op> c = drawn_legally([&] {
        Case<Op> drawn = draw_short<Op>(entry_point, longest, side, draws);
        if (!takes_fp32(entry_point) && drawn.problem.dtype == spec::DType::fp32)
          drawn.problem.dtype = spec::DType::fp16;
        return drawn;
      });
      c.problem.sink = spec::SinkShape::per_head;
      c.problem.scale_value = attention::ordinary_scale(c.problem.head_dim);
      c.note = "a sink, and sequences of few tokens, some of them empty";
      cases.push_back(std::move(c));
    }
}

/// Returns all cases of entry points with a sink. Returns nothing if the operator has no such entry
/// point.
template <class Op>
std::vector<Case<Op>> sink_cases(const SamplingPlan& plan) {
  std::vector<Case<Op>> cases = hand_made_cases<Op>("sinks", plan);
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries) {
    if (!has_sink(entry_point)) continue;
    const std::vector<Case<Op>> calls = legal_calls<Op>(entry_point);
    add_sink_violations(calls, cases);
    add_sink_variants(calls, cases);
    add_drawn_sinks<Op>(plan, entry_point, cases);
    if (is_unpadding(entry_point)) add_short_sinks<Op>(plan, entry_point, cases);
  }
  return cases;
}

}  // namespace assay::conformance::attention::flash
