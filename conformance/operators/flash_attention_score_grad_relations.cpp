#include "operators/flash_attention_score_grad_relations.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

#include "operators/flash_attention_score_grad_cascade.hpp"
#include "relating.hpp"

namespace assay::conformance::flash {
namespace {

using Kernel = spec::Implementation<Op>;

/// The call of a trial, on the product and, where it has the parameters, through the entry point that the case asks for.
FlashCase case_of(const Trial& trial, const FlashCase& asked) {
  FlashCase c{.problem = trial.problem, .surface = asked.surface, .product = asked.product};
  if (!offers(c.surface, c.problem)) c.surface = surface_of(trial.problem);
  c.inputs = trial.inputs, c.outputs = trial.outputs;
  return c;
}

/// What the kernel makes of a trial. Errors: spec::Rejected, Incomparable, and whatever else escapes from the kernel.
Gradients run(const Trial& trial, const Op::Inputs& inputs, const FlashCase& asked, Kernel& kernel) {
  return gradients_of(trial.problem, related_run(case_of(trial, asked), inputs, kernel));
}

Finding difference(const Relation& relation, const Op::Problem& p, const GradientTensor& tensor,
                   std::size_t k, double actual, double predicted, double tolerance) {
  const spec::Extents e = tensor.extents(p);
  const auto element = static_cast<std::int64_t>(k);
  const spec::RowPosition row = e.position(element / e.dim);
  Finding f{.rule = "relation", .tensor = tensor.name, .b = row.b, .n = row.n, .s = row.s,
            .d = element % e.dim, .actual = actual, .expected = predicted, .tolerance = tolerance};
  std::ostringstream text;
  text.precision(9);
  text << tensor.name << '(' << f.b << ',' << f.n << ',' << f.s << ',' << f.d << ") is " << actual
       << ", the other runs give " << predicted << ", they may differ by " << tolerance << ": "
       << relation.sentence;
  f.text = text.str();
  return f;
}

/// Compares a run with what the others predict. `tau` and `tau_det` are null where every bit must agree.
Verdict compare_runs(const Relation& relation, const Op::Problem& p, const Gradients& actual,
                     const Gradients& predicted, const Tolerances* tolerances, CaseReport& report) {
  constexpr std::int64_t most_findings = 4;
  Verdict verdict = Verdict::conforms;
  for (const GradientTensor& tensor : gradient_tensors) {
    const auto &x = actual.*tensor.member, &y = predicted.*tensor.member;
    TensorReport measured{.name = tensor.name};
    std::int64_t failing = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
      const double error = std::abs(x[k] - y[k]);
      const double tau = tolerances == nullptr ? 0 : (tolerances->tau.*tensor.member)[k];
      const double det = tolerances == nullptr ? 0 : (tolerances->tau_det.*tensor.member)[k];
      if (tau > 0) measured.worst = std::max(measured.worst, error / tau);
      if (error <= tau || std::isinf(tau)) continue;
      const bool proven = !(error <= det);
      if (verdict != Verdict::nonconformant_proven)
        verdict = proven ? Verdict::nonconformant_proven : Verdict::statistical_unconfirmed;
      if (++failing <= most_findings)
        report.findings.push_back(difference(relation, p, tensor, k, x[k], y[k], tau));
    }
    if (x.empty()) continue;
    measured.elements_judged = static_cast<std::int64_t>(x.size());
    measured.rows_total = measured.rows_judged = tensor.extents(p).rows();
    report.tensors.push_back(measured);
    if (failing > most_findings)
      report.findings.push_back({.rule = "relation", .tensor = tensor.name,
                                 .text = std::string(tensor.name) + ": " + std::to_string(failing) +
                                         " of " + std::to_string(x.size()) + " elements differ"});
  }
  return verdict;
}

/// Whether some output that is due is not zero: else the relation says nothing.
bool says_something(const Gradients& g) {
  return std::ranges::any_of(gradient_tensors, [&](const GradientTensor& tensor) {
    return std::ranges::any_of(g.*tensor.member, [](double x) { return x != 0; });
  });
}

}  // namespace

std::vector<const Relation*> relations() {
  std::vector<const Relation*> all;
  for (const auto group : {rearranging_relations(), arithmetic_relations(), spelling_relations()})
    for (const Relation& relation : group) all.push_back(&relation);
  return all;
}

const Relation& relation(std::string_view name) {
  std::string known;
  for (const Relation* relation : relations()) {
    if (relation->name == name) return *relation;
    known += (known.empty() ? "" : ", ") + std::string(relation->name);
  }
  throw std::invalid_argument("--relation=" + std::string(name) + ": accepted: " + known + ", " +
                              std::string(cascade_name));
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

RelationExamination::RelationExamination(FlashCase c)
    : examined_(std::move(c)), relation_(&relation(examined_.relation)) {
  if (!relation_->applies(examined_.problem)) return;
  experiment_ = relation_->prepare(trial_of(examined_.problem, make_inputs(examined_)));
  inputs_.push_back(inputs_of(experiment_->base));
  for (const Trial& variant : experiment_->variants) inputs_.push_back(inputs_of(variant));
}

const Tolerances& RelationExamination::allowed(const spec::NumericsProfile& profile) {
  for (const auto& [known, entry] : allowed_)
    if (known == profile) return entry;
  return allowed_.emplace_back(profile, tolerances(*experiment_, profile)).second;
}

Verdict RelationExamination::judge_once(Kernel& kernel, CaseReport& report) {
  const Op::Problem& p = examined_.problem;
  const Gradients actual = run(experiment_->base, inputs_[0], examined_, kernel);
  std::vector<Gradients> outputs;
  for (const Trial& variant : experiment_->variants)
    outputs.push_back(run(variant, inputs_[outputs.size() + 1], examined_, kernel));
  const Gradients predicted = experiment_->combine(outputs);
  const spec::NumericsProfile profile = kernel.numerics(p);
  const bool exact = relation_->agreement == Agreement::bits && profile.order == spec::Order::fixed;
  const Tolerances* tolerances = exact ? nullptr : &allowed(profile);
  if (tolerances != nullptr && !tolerances->consistent) {
    report.findings.push_back({.rule = "note", .text = "statistics and attention_in of some run do not "
                                                       "belong to its data, which the profile needs"});
    return Verdict::not_applicable;
  }
  const Verdict verdict = compare_runs(*relation_, p, actual, predicted, tolerances, report);
  if (verdict != Verdict::conforms || outputs.empty()) return verdict;
  if (std::ranges::all_of(experiment_->variants, [&](const Trial& variant) {
        return is_same_run(variant, experiment_->base);
      })) {
    report.findings.push_back({.rule = "note", .text = "every run of the relation is the same one: it says nothing here"});
    return Verdict::vacuous;
  }
  if (says_something(actual)) return verdict;
  report.findings.push_back({.rule = "note", .text = "every gradient is zero: the relation says nothing"});
  return Verdict::vacuous;
}

CaseReport RelationExamination::examine(Kernel& kernel) {
  return related(examined_, kernel, [&](const FlashCase& c, CaseReport& report) {
    if (!experiment_) {
      report.findings.push_back(
          {.rule = "status", .text = "the relation holds for " + std::string(relation_->domain)});
      return Verdict::not_applicable;
    }
    if (c.seed == examined_.seed) return judge_once(kernel, report);
    return RelationExamination(c).judge_once(kernel, report);
  });
}

}  // namespace assay::conformance::flash

namespace assay::conformance {

CaseReport examine_relation(const flash::FlashCase& c, spec::Implementation<flash::Op>& kernel) {
  if (c.relation != flash::cascade_name) return flash::RelationExamination(c).examine(kernel);
  return related(c, kernel, [&](const flash::FlashCase& asked, CaseReport& report) {
    return flash::judge_cascade(asked, kernel, report);
  });
}

}  // namespace assay::conformance
