#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// Cases written by people: lines of the files in cases/, and lines that a user wrote.
namespace assay::conformance {

/// Appends the case of a line if the line belongs to the plan. With the default seed of the sweep,
/// the case has the seed in the line; another seed of the sweep changes it. Errors: the errors of
/// `case_of`.
template <class Op>
void append_planned(std::vector<Case<Op>>& cases, const CaseLine& line, const SamplingPlan& plan) {
  Case<Op> c = case_of<Op>(line);
  if (c.policy() != spec::Policy())
    throw std::invalid_argument(
        line.place + ": --" +
        (c.upstream == spec::Upstream::off ? "upstream=off" : "documents=strict") +
        " is not allowed in a single line: give it as a flag of the sweep, for all lines");
  if (!(plan.full ? line.in_full_plan : line.in_ordinary_plan)) return;
  if (line.follows_seed) c.seed += plan.seed - SamplingPlan().seed;
  cases.push_back(std::move(c));
}

/// Returns the cases of cases/OPERATOR/`kind`.txt that belong to `plan`; empty if the file does not
/// exist. Errors: std::invalid_argument for a line with a flag that is allowed only for a whole
/// sweep.
template <class Op>
std::vector<Case<Op>> hand_made_cases(std::string_view kind, const SamplingPlan& plan = {}) {
  const std::string name = "cases/" + std::string(Op::name) + "/" + std::string(kind) + ".txt";
  std::vector<Case<Op>> cases;
  for (const CaseText& text : shipped_case_texts())
    if (text.name == name)
      for (const CaseLine& line : case_lines(text)) append_planned(cases, line, plan);
  return cases;
}

/// Returns the user's own cases of Op that belong to the plan.
template <class Op>
std::vector<Case<Op>> own_cases(const SamplingPlan& plan) {
  std::vector<Case<Op>> cases;
  for (const CaseText& text : plan.own_cases)
    for (const CaseLine& line : case_lines(text))
      if (line.words.front() == Op::name) append_planned(cases, line, plan);
  return cases;
}

}  // namespace assay::conformance
