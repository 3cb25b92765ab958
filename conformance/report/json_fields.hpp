#pragma once

#include <concepts>
#include <type_traits>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/fact_text.hpp"
#include "assay/conformance/report/results.hpp"

/// Lists the members of the reports. Writing and reading JSON use the same lists.
namespace assay::conformance::detail {

template <class T, class Plain>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Plain>;

template <MaybeConst<Finding> T, class Visitor>
void visit_members(T& f, Visitor&& visit) {
  visit("rule", f.rule);
  visit("tensor", f.tensor);
  visit("b", f.b);
  visit("n", f.n);
  visit("s", f.s);
  visit("d", f.d);
  visit("actual", f.actual);
  visit("expected", f.expected);
  visit("tolerance", f.tolerance);
  visit("fact", f.fact);
  visit("text", f.text);
  visit("pattern", f.pattern);
  visit("count", f.count);
  visit("refusal", f.refusal);
  visit("again", f.again);
  visit("message", f.message);
}

template <MaybeConst<Fact> T, class Visitor>
void visit_members(T& f, Visitor&& visit) {
  visit("kind", f.kind);
  visit("values", f.values);
  visit("parts", f.parts);
}

template <MaybeConst<FailureCount> T, class Visitor>
void visit_members(T& c, Visitor&& visit) {
  visit("failing", c.failing);
  visit("judged", c.judged);
}

template <MaybeConst<Refusal> T, class Visitor>
void visit_members(T& r, Visitor&& visit) {
  visit("status", r.status);
  visit("documented", r.documented);
}

template <MaybeConst<FailedAgain> T, class Visitor>
void visit_members(T& a, Visitor&& visit) {
  visit("runs", a.runs);
  visit("failures", a.failures);
  visit("before", a.before);
  visit("fails_after", a.fails_after);
  visit("trouble", a.trouble);
}

template <MaybeConst<Pattern> T, class Visitor>
void visit_members(T& p, Visitor&& visit) {
  visit("failing", p.failing);
  visit("judged", p.judged);
  visit("places", p.places);
  visit("deviation", p.deviation);
}

template <MaybeConst<AxisPlace> T, class Visitor>
void visit_members(T& p, Visitor&& visit) {
  visit("axis", p.axis);
  visit("kind", p.kind);
  visit("numbers", p.numbers);
}

template <MaybeConst<Deviation> T, class Visitor>
void visit_members(T& r, Visitor&& visit) {
  visit("kind", r.kind);
  visit("factor", r.factor);
  visit("quantities", r.quantities);
  visit("heads", r.heads);
  visit("shift", r.shift);
}

template <class Fact, class Visitor>
void visit_members(const Common<Fact>& c, Visitor&& visit) {
  visit("fact", c.fact);
  visit("cases", c.cases);
  visit("outputs", c.outputs);
}

template <MaybeConst<FieldTerm> T, class Visitor>
void visit_members(T& t, Visitor&& visit) {
  visit("field", t.field);
  visit("divided_by", t.divided_by);
  visit("divisor", t.divisor);
  visit("comparison", t.comparison);
  visit("values", t.values);
  visit("is_negated", t.is_negated);
}

template <MaybeConst<HeadOfAnother> T, class Visitor>
void visit_members(T& h, Visitor&& visit) {
  visit("head", h.head);
  visit("from", h.from);
}

template <MaybeConst<Certainty> T, class Visitor>
void visit_members(T& c, Visitor&& visit) {
  visit("exact", c.exact);
  visit("radius", c.by_radius);
  visit("double_double", c.by_double_double);
  visit("definition", c.by_definition);
  visit("ties", c.ties);
  visit("enclosed", c.enclosed);
  visit("open", c.open);
  visit("largest_radius_over_tau", c.largest_radius);
}

template <MaybeConst<ErrorMap> T, class Visitor>
void visit_members(T& m, Visitor&& visit) {
  visit("batch", m.batch);
  visit("heads", m.heads);
  visit("rows", m.rows);
  visit("channels", m.channels);
  visit("row_step", m.row_step);
  visit("channel_step", m.channel_step);
  visit("head_step", m.head_step);
  visit("cells", m.cells);
  visit("by_head", m.by_head);
  visit("near_channel", m.near_channel);
  visit("near_rows", m.near_rows);
  visit("actual", m.actual);
  visit("expected", m.expected);
  visit("tolerance", m.tolerance);
}

template <MaybeConst<TensorReport> T, class Visitor>
void visit_members(T& t, Visitor&& visit) {
  visit("name", t.name);
  visit("rows_judged", t.rows_judged);
  visit("rows_total", t.rows_total);
  visit("elements_judged", t.elements_judged);
  visit("worst", t.worst);
  visit("worst_at", t.worst_at);
  visit("terms", t.terms);
  visit("rms", t.rms);
  visit("rms_limit", t.rms_limit);
  visit("bias", t.bias);
  visit("bias_t", t.bias_t);
  visit("nu", t.nu);
  visit("median_tau_over_ref", t.median_tau_over_ref);
  visit("histogram", t.histogram);
  visit("controls", t.controls);
  visit("exempt", t.exempt);
  visit("rows_summed", t.rows_summed);
  visit("worst_tile", t.worst_tile);
  visit("rows_nonzero", t.rows_nonzero);
  visit("rows_blind", t.rows_blind);
  visit("yardsticks", t.yardsticks);
  visit("certainty", t.certainty);
  visit("errors", t.errors);
}

template <MaybeConst<spec::Metric> T, class Visitor>
void visit_members(T& m, Visitor&& visit) {
  visit("name", m.name);
  visit("value", m.value);
  visit("unit", m.unit);
}

/// Returns the rules that can lead to this verdict, as a list for an error message.
inline std::string rules_that_give(Verdict verdict) {
  std::string words;
  for (const RuleText& rule : rules)
    if (rule.verdicts.contains(verdict))
      words += (words.empty() ? "" : ", ") + std::string(rule.word);
  return words;
}

/// Reads or writes the members of a decision. Errors: std::invalid_argument if the rule in the JSON
/// cannot lead to the verdict.
template <MaybeConst<Decision> T, class Visitor>
void visit_decision(T& decision, Visitor& visit) {
  Verdict verdict = decision.value();
  Rule rule = decision.rule();
  std::string evidence = decision.evidence;
  visit("verdict", verdict);
  visit("decided_by", rule);
  visit("fact", decision.fact);
  visit("evidence", evidence);
  if constexpr (!std::is_const_v<T>) {
    if (!rules.at(static_cast<std::size_t>(rule)).verdicts.contains(verdict))
      visit.refuse("decided_by", "one of " + rules_that_give(verdict) + ", which can give " +
                                     std::string(spec::to_string(verdict)));
    Fact fact = std::move(decision.fact);
    decision = Decision::recorded(verdict, rule, std::move(evidence));
    decision.fact = std::move(fact);
  }
}

template <MaybeConst<OfPair> T, class Visitor>
void visit_members(T& pair, Visitor&& visit) {
  visit("forward", pair.forward);
  visit("gradient", pair.gradient);
  visit("parts", pair.parts);
}

template <MaybeConst<CaseReport> T, class Visitor>
void visit_members(T& c, Visitor&& visit) {
  visit("id", c.id);
  visit("operator", c.operator_name);
  visit("command_line", c.command_line);
  visit("note", c.note);
  visit("implementation", c.implementation);
  visit("outputs_file", c.outputs_file);
  visit("pair", c.pair);
  visit_decision(c.verdict, visit);
  visit("value_case", c.value_case);
  visit("fields", c.fields);
  visit("violated_requirement", c.violated_requirement);
  visit("accepted_requirements", c.accepted_requirements);
  visit("findings", c.findings);
  visit("tensors", c.tensors);
  visit("metrics", c.metrics);
  visit("seconds_implementation", c.seconds_implementation);
  visit("seconds_total", c.seconds_total);
}

template <MaybeConst<RequirementCoverage::Requirement> T, class Visitor>
void visit_members(T& r, Visitor&& visit) {
  visit("id", r.id);
  visit("has_accept", r.has_accept);
  visit("has_reject", r.has_reject);
  visit("accepted", r.accepted);
  visit("rejected", r.rejected);
}

template <MaybeConst<ShrunkCase> T, class Visitor>
void visit_members(T& s, Visitor&& visit) {
  visit("id", s.id);
  visit("command_line", s.command_line);
  visit("shrunk", s.shrunk);
  visit("verdict", s.verdict);
  visit("runs", s.runs);
  visit("end", s.end);
  visit("again", s.again);
  visit("failed_again", s.failed_again);
  visit("declared", s.declared);
  visit("fields", s.fields);
  visit("failed", s.failed);
  visit("untried", s.untried);
  visit("of_cause", s.of_cause);
  visit("run_declared", s.run_declared);
  visit("conform_declared", s.conform_declared);
}

template <MaybeConst<Shard> T, class Visitor>
void visit_members(T& s, Visitor&& visit) {
  visit("number", s.number);
  visit("of", s.of);
  visit("program", s.program);
  visit("plan", s.plan);
  visit("operators", s.operators);
  visit("upstream", s.policy.upstream);
  visit("documents", s.policy.documents);
  visit("shrink", s.shrink);
  visit("planned", s.planned);
  visit("places", s.places);
  visit("ids", s.ids);
}

template <MaybeConst<Environment> T, class Visitor>
void visit_members(T& e, Visitor&& visit) {
  visit("tool_version", e.tool_version);
  visit("compiler", e.compiler);
  visit("command_line", e.command_line);
  visit("implementation", e.implementation);
  visit("started", e.started);
  visit("seed", e.seed);
}

template <MaybeConst<spec::Numerics> T, class Visitor>
void visit_members(T& numerics, Visitor&& visit) {
  spec::visit_fields(numerics, visit);
}

}  // namespace assay::conformance::detail
