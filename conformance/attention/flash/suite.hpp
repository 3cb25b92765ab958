#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/flash/cost.hpp"
#include "attention/flash/limits.hpp"
#include "attention/flash/memory.hpp"
#include "attention/flash/plan/calls.hpp"
#include "attention/flash/plan/drawn.hpp"
#include "attention/flash/plan/formula_fields.hpp"
#include "attention/flash/plan/interactions.hpp"
#include "attention/flash/plan/large.hpp"
#include "attention/flash/plan/short.hpp"
#include "attention/flash/plan/sinks.hpp"
#include "attention/flash/reductions.hpp"
#include "attention/flash/statistics_order.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

/// Definitions of the member functions of SuiteOf. One source file of each operator includes this
/// header and instantiates them.
namespace assay::conformance::attention::flash {

template <class Op>
std::span<const PatternField<Op>> SuiteOf<Op>::patterns() {
  static constexpr PatternField<Op> all[] = {
      {"mask", &Patterns::mask, "pattern of a user mask", mask_patterns},
      {"drop", &Patterns::drop, "pattern of the dropout bits", drop_patterns},
      {"sink_size", &Patterns::sink_size, "pattern of the sink", sink_patterns}};
  return all;
}

template <class Op>
std::span<const InputProfile> SuiteOf<Op>::profiles() {
  return Traits<Op>::profiles();
}

template <class Op>
std::span<const FieldRange> SuiteOf<Op>::field_ranges() {
  return flash::field_ranges<Op>();
}

template <class Op>
void SuiteOf<Op>::imply_extents(const Problem& given, Problem& implied) {
  SuiteDefaults<Op>::imply_extents(given, implied);
  implied.statistics_order = upstream_order(given.softmax_in_layout);
}

template <class Op>
void SuiteOf<Op>::settle_extents(Problem& p, const std::function<bool(std::string_view)>& given) {
  require_lengths(p, spec::to_string(Traits<Op>::packed));
  SuiteDefaults<Op>::settle_extents(p, given);
  if (!given("statistics_order")) p.statistics_order = upstream_order(p.softmax_in_layout);
}

/// Throws if no tensors can be created for the case. A check that does not compare two runs
/// (RelationParts::other, such as cascade) also accepts input profiles that are too difficult for
/// relations (comparisons of runs).
template <class Op>
void SuiteOf<Op>::require_possible(const Case<Op>& c) {
  constexpr std::string_view other = conformance::RelationParts<Op>::other.name;
  require_fields(c.problem);
  require_parameters_of_entry_point(c);
  require_shapes(c.problem);
  require_formula(c);
  require_part(c);
  if (other.empty() || c.track != Track::relation || c.relation != other)
    require_relation(c, conformance::RelationParts<Op>::relations(), other);
  require_no_padding_in_relations(c);
  require_judged_sink(c, other);
  require_size({.largest_tensor = largest_tensor(c.problem),
                .bytes = memory_estimate(c.problem),
                .with_numbers = c.track != Track::arguments},
               "batch, heads_q, seq_q or seq_kv");
}

template <class Op>
typename Op::Problem SuiteOf<Op>::as_declared(const Problem& problem, EntryPoint entry_point,
                                              const spec::Numerics& numerics) {
  return flash::as_declared(problem, entry_point, numerics);
}

template <class Op>
Fact SuiteOf<Op>::place_of_inputs(const Problem& problem) {
  return {
      Traits<Op>::reads_statistics ? FactKind::statistics_passed : FactKind::statistics_expected,
      Fact(kind_of(problem.statistics_order))};
}

template <class Op>
std::vector<OtherReading> SuiteOf<Op>::other_readings(const Case<Op>& c,
                                                      const spec::Numerics& numerics) {
  return flash::other_readings(c, numerics);
}

template <class Op>
std::optional<Case<Op>> SuiteOf<Op>::small_call(const Case<Op>& c) {
  return flash::small_call(c);
}

/// Sets scale_value of each exact case to the value that exact_case_scale returns for its seed.
template <class Op>
std::vector<Case<Op>> exact_cases(const SamplingPlan& plan) {
  std::vector<Case<Op>> cases = hand_made_cases<Op>("exact", plan);
  if (plan.seed != SamplingPlan().seed)
    for (Case<Op>& c : cases) c.problem.scale_value = exact_case_scale(c.problem, c.seed);
  return cases;
}

/// Returns the interaction cases for a plan. All interaction cases together contain every
/// combination of values of any four factors. Unless the plan is full, returns a quarter of them;
/// four plans with consecutive seeds return all of them.
template <class Op>
std::vector<Case<Op>> some_interaction_cases(const SamplingPlan& plan) {
  constexpr std::uint64_t parts = 4;
  std::vector<Case<Op>> cases;
  std::uint64_t number = plan.seed;
  for (Case<Op>& c : interaction_cases<Op>(plan.seed))
    if (plan.full || number++ % parts == 0) cases.push_back(std::move(c));
  return cases;
}

template <class Op>
void SuiteOf<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  cases.add(violation_cases<Op>());
  cases.add(variant_cases<Op>());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(hand_made_cases<Op>("biases", plan));
  cases.add(hand_made_cases<Op>("heads", plan));
  cases.add(drawn<Op>().cover(plan));
  cases.add(exact_cases<Op>(plan));
  cases.add(edge_cases<Op>(plan.seed));
  cases.add(hand_made_cases<Op>("relations", plan));
  cases.add(drawn<Op>().random(plan));
  cases.add(drawn<Op>().completion(plan, cases.cases()));
  if (plan.full) cases.add(drawn<Op>().completion_of_triples(plan, cases.cases()));
  cases.add(large_cases<Op>(plan.seed));
  cases.add(large_relation_cases<Op>(plan.seed));
  cases.add(short_cases<Op>(plan.seed));
  cases.add(core_cases<Op>(plan.seed));
  cases.add(some_interaction_cases<Op>(plan));
  cases.add(field_cases<Op>(plan.seed, cases.cases()));
  // Adds the sink cases last, so that the cases without a sink stay the same.
  cases.add(sink_cases<Op>(plan));
}

template <class Op>
const Axes* SuiteOf<Op>::axes() {
  static const Axes all{Op::name, choice_space<Op>(), factors<Op>().axes()};
  return &all;
}

template <class Op>
Choice SuiteOf<Op>::choice_of(const Case<Op>& c) {
  if (has_sink(c.entry_point)) return {};  // the factors do not contain these entry points
  return factors<Op>().read(c);
}

template <class Op>
std::vector<Size> SuiteOf<Op>::sizes(const Case<Op>& c) {
  return sizes_of(c.problem);
}

template <class Op>
std::span<const FormulaField<Op>> SuiteOf<Op>::formula_fields() {
  static const std::vector<FormulaField<Op>> all = flash::formula_fields<Op>();
  return all;
}

template <class Op>
double SuiteOf<Op>::expected_cost(const Case<Op>& c) {
  return flash::expected_cost(c);
}

template <class Op>
std::int64_t SuiteOf<Op>::tensor_elements(const Problem& p) {
  return flash::tensor_elements(p);
}

template <class Op>
std::span<const Reduction<Op>> SuiteOf<Op>::reductions() {
  return flash::reductions<Op>();
}

template <class Op>
std::span<const std::string_view> SuiteOf<Op>::fields_of_reductions() {
  return flash::fields_of_reductions();
}

}  // namespace assay::conformance::attention::flash
