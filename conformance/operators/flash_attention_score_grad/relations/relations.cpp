#include "operators/flash_attention_score_grad/relations/relations.hpp"

#include <string>

#include "case/limits.hpp"
#include "judge/relations/list.hpp"
#include "judge/relations/relating.hpp"
#include "operators/flash_attention_score_grad/relations/cascade.hpp"

namespace assay::conformance::flash {

/// On the product and, where it has the parameters, through the entry point that the case asks for.
FlashCase Family::case_of(const Trial& trial, const FlashCase& asked) {
  FlashCase c{.problem = trial.problem, .surface = asked.surface, .product = asked.product};
  if (!offers(c.surface, c.problem)) c.surface = surface_of(trial.problem);
  c.inputs = trial.inputs, c.outputs = trial.outputs;
  c.upstream = asked.upstream;
  return c;
}

Tolerances Family::tolerances_of(const Trial& trial, const spec::NumericsProfile& profile) {
  const Op::Inputs inputs = inputs_of(trial);
  return run_tolerances(Dense(trial.problem, inputs), Arithmetic(profile, trial.problem.dtype));
}

std::vector<const Relation*> relations() {
  return relation_list({rearranging_relations(), arithmetic_relations(), spelling_relations()});
}

const Relation& relation(std::string_view name) {
  return relation_named(relations(), name, cascade_name);
}

std::vector<FlashCase> relation_cases(std::uint64_t seed) {
  std::vector<FlashCase> cases;
  for (const Relation* relation : relations())
    for (const Op::Problem& problem : relation->problems()) {
      FlashCase c{.problem = problem, .surface = surface_of(problem), .track = Track::relation};
      c.relation = relation->name;
      c.seed = seed + cases.size();
      cases.push_back(c);
    }
  for (FlashCase c : cascade_cases()) {
    c.seed = seed + cases.size();
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace assay::conformance::flash

namespace assay::conformance {

CaseReport examine_relation(const flash::FlashCase& c, spec::Implementation<flash::Op>& kernel) {
  if (c.relation != flash::cascade_name) return flash::RelationExamination(c).examine(kernel);
  return related(c, kernel, [&](const flash::FlashCase& asked, CaseReport& report) {
    return comparable(asked, [&] { return flash::judge_cascade(asked, kernel, report); });
  });
}

}  // namespace assay::conformance
