#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/bilinear/suite.hpp"
#include "bilinear/fixed_rows.hpp"
#include "bilinear/plan.hpp"
#include "bilinear/profiles.hpp"
#include "case/limits.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"
#include "plan/varied_calls.hpp"

/// Defines the member functions of SuiteOf. One source file of each operator includes this file and
/// instantiates them.
namespace assay::conformance::bilinear {

template <class Op>
std::vector<const Relation<Op>*> FixedRows<Op>::relations() {
  return relation_list<Op>({Traits<Op>::relations});
}

template <class Op>
Form SuiteOf<Op>::form(const Problem& problem) {
  return Traits<Op>::form(problem);
}

template <class Op>
std::unique_ptr<Definition> SuiteOf<Op>::definition(const Problem& problem,
                                                    const Operands& operands) {
  return definition_by_heads<typename Traits<Op>::Oracle>(problem, operands, Traits<Op>::row,
                                                          std::make_index_sequence<2>());
}

template <class Op>
std::span<const InputProfile> SuiteOf<Op>::profiles() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const Profile& profile : profiles_of<Op>())
      entries.push_back({profile.name, profile.sentence});
    return entries;
  }();
  return named;
}

template <class Op>
typename Op::Inputs SuiteOf<Op>::draw(const Case<Op>& c) {
  return drawn_inputs(c, std::ranges::find(profiles_of<Op>(), c.profile, &Profile::name)->value);
}

template <class Op>
std::span<const FieldRange> SuiteOf<Op>::field_ranges() {
  static const auto ranges = [] {
    std::vector<FieldRange> all;
    std::int64_t most_rows = 0;
    for (const auto& field : Traits<Op>::fields) {
      all.push_back({name_of(field.member), field.first, field.last, field.limit_requirement});
      most_rows = std::max(most_rows, field.last);
    }
    all.push_back({"rows", 0, most_rows});
    return all;
  }();
  return ranges;
}

template <class Op>
void SuiteOf<Op>::require_possible(const Case<Op>& c) {
  if (c.problem.dtype != spec::DType::fp16 && c.problem.dtype != spec::DType::bf16)
    refuse("dtype", std::string(to_string(c.problem.dtype)), "fp16, bf16");
  Traits<Op>::require_possible(c.problem);
  require_relation(c, RelationParts::relations());
}

template <class Op>
double SuiteOf<Op>::multiply_adds(const Problem& problem) {
  double products = 0;
  for (const Sum& sum : form(problem).sums)
    products += static_cast<double>(sum.extents.rows() * sum.extents.dim * sum.products);
  return products;
}

template <class Op>
const Axes* SuiteOf<Op>::axes() {
  static const Axes all{Op::name, drawn<Op>().space, factors<Op>().axes()};
  return &all;
}

template <class Op>
std::vector<std::size_t> SuiteOf<Op>::choice_of(const Case<Op>& c) {
  return factors<Op>().read(c);
}

template <class Op>
void SuiteOf<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  const auto cover = drawn<Op>().cover(plan);
  std::vector<Case<Op>> calls = {{}};
  for (const Case<Op>& c : cover) calls.push_back({.problem = c.problem});
  cases.add(breaking_cases<Op>({calls}));
  cases.add(varied_cases<Op>({calls}));
  for (const char* kind : {"corners", "exact", "relations"})
    cases.add(hand_made_cases<Op>(kind, plan));
  cases.add(cover);
  cases.add(drawn<Op>().random(plan));
  cases.add(drawn<Op>().completion(plan, cases.cases()));
  if (plan.full) cases.add(drawn<Op>().completion_of_triples(plan, cases.cases()));
}

}  // namespace assay::conformance::bilinear
