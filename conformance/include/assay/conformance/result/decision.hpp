#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "assay/conformance/result/fact.hpp"
#include "assay/conformance/result/verdict.hpp"

namespace assay::conformance {

/// The rule that decided a verdict. The table `rules` contains the name and the explanation of each
/// rule.
enum class Rule : std::uint8_t {
  agreement,
  legal_call,
  forbidden_call,
  open_question,
  not_offered,
  conduct,
  structure,
  exact_bits,
  bound,
  tile_sum,
  rms,
  bias,
  fresh_seeds,
  determinism,
  relation,
  domain,
  vacuity,
  control,
  values_below_tolerance,
  exemption,
  certificate,
  weak_numerics,
  undeclared_order,
  inconsistent_inputs,
  no_exact_inputs,
  stored_case,
  judge_failure,
};

/// The ground of a verdict: the observation that selects one verdict, if a rule can give several.
enum class Ground : std::uint8_t {
  only,  ///< the rule has one verdict
  // Calls:
  accepted,
  refused,            ///< a legal call was refused
  documented_status,  ///< a forbidden call was refused with a status that the documents name
  other_status,       ///< it was refused with another status, and the documents name none
  wrong_status,       ///< it was refused with another status than the documents name
  // Conduct:
  wrote_elsewhere,
  died,
  late,
  // Numbers:
  certain,    ///< no kernel with the declared numerics does that
  likely,     ///< chance can explain it
  confirmed,  ///< chance could explain it, but a fresh seed repeated it
  // Controls:
  missed,  ///< some corrupted output passed
  blind,   ///< zeros would have passed
  // Observations about the memory order of inputs, if the documents contradict each other about
  // this order:
  declared_otherwise,
  fits_otherwise,
  may_fit_otherwise,
};

/// The verdicts that a rule can give. Each verdict has a ground: the observation that leads to it.
class Outcomes {
 public:
  /// A verdict and its ground (the observation that leads to it).
  struct Outcome {
    Ground ground;
    Verdict verdict;
  };

  constexpr Outcomes(Verdict only) : outcomes_{{{Ground::only, only}}}, size_(1) {}
  constexpr Outcomes(std::initializer_list<Outcome> outcomes) : size_(outcomes.size()) {
    std::ranges::copy(outcomes, outcomes_.begin());
  }
  constexpr const Outcome* begin() const { return outcomes_.data(); }
  constexpr const Outcome* end() const { return begin() + size_; }
  constexpr bool contains(Verdict verdict) const {
    return std::ranges::find(*this, verdict, &Outcome::verdict) != end();
  }

 private:
  std::array<Outcome, 4> outcomes_{};
  std::size_t size_;
};

/// A rule of the judge: its name, its verdicts and its explanation.
struct RuleText {
  Rule rule;
  std::string_view word;      ///< in reports; a finding of the same rule has the same word
  Outcomes verdicts;          ///< see docs/verdicts.md
  std::string_view sentence;  ///< in conformance/README.md, "Rules"
};

/// All rules, in the order of the enumeration. Only this table defines which verdicts a rule may
/// give; docs/verdicts.md repeats it.
inline constexpr std::array<RuleText, 27> rules{{
    {Rule::agreement, "agreement", Verdict::conforms,
     "all rules about numbers were checked, and none found a failure"},
    {Rule::legal_call,
     "legal_call",
     {{Ground::accepted, Verdict::conforms}, {Ground::refused, Verdict::rejected_wrongly}},
     "a call that no document forbids is accepted in both phases"},
    {Rule::forbidden_call,
     "forbidden_call",
     {{Ground::documented_status, Verdict::rejected_as_specified},
      {Ground::other_status, Verdict::rejected_other_code},
      {Ground::wrong_status, Verdict::rejected_wrongly},
      {Ground::accepted, Verdict::accepted_wrongly}},
     "a call that breaks a requirement is refused with the status that the documents name"},
    {Rule::open_question, "open_question", Verdict::not_applicable,
     "a kernel cannot fail in a call about which the documents disagree or say nothing"},
    {Rule::not_offered, "not_offered", Verdict::not_applicable,
     "calls that an implementation does not support are not judged"},
    {Rule::conduct,
     "conduct",
     {{Ground::wrote_elsewhere, Verdict::nonconformant_structural},
      {Ground::died, Verdict::crash},
      {Ground::late, Verdict::timeout}},
     "a call ends within its time, throws only to refuse, and writes only into its outputs"},
    {Rule::structure, "structure", Verdict::nonconformant_structural,
     "zeros, infinities, NaN and replicas are exactly where expected, whatever the tolerance"},
    {Rule::exact_bits, "exact_bits", Verdict::nonconformant_structural,
     "the outputs of an exact case have the expected bits"},
    {Rule::bound,
     "bound",
     {{Ground::certain, Verdict::nonconformant_proven},
      {Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "every element lies within its bound"},
    {Rule::tile_sum,
     "tile_sum",
     {{Ground::certain, Verdict::nonconformant_proven},
      {Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "the sum of a tile lies within its bound"},
    {Rule::rms,
     "rms",
     {{Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "the root mean square of the errors is at most R_max"},
    {Rule::bias,
     "bias",
     {{Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "the mean of the errors is close to 0"},
    {Rule::fresh_seeds, "fresh_seeds", Verdict::conforms,
     "a failure that chance can explain counts only if one of two fresh seeds repeats it"},
    {Rule::determinism, "determinism", Verdict::nondeterministic,
     "two runs give the same bits if the kernel declares a fixed order"},
    {Rule::relation,
     "relation",
     {{Ground::certain, Verdict::nonconformant_proven},
      {Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "related runs agree"},
    {Rule::domain, "domain", Verdict::not_applicable,
     "a relation is judged only if it holds for the case and its runs are short enough for a "
     "bound"},
    {Rule::vacuity, "vacuity", Verdict::vacuous,
     "the case compares at least one value that can differ"},
    {Rule::control,
     "control",
     {{Ground::missed, Verdict::conforms_weak}, {Ground::blind, Verdict::inconclusive}},
     "the case detects outputs that are corrupted on purpose"},
    {Rule::values_below_tolerance, "values_below_tolerance", Verdict::conforms_weak,
     "at least one expected value is larger than its tolerance"},
    {Rule::exemption, "exemption", Verdict::inconclusive,
     "at most one judged element in a hundred is exempt"},
    {Rule::certificate, "certificate", Verdict::inconclusive,
     "the proven error of the reference is at most 2^-10 of the tolerance"},
    {Rule::weak_numerics, "weak_numerics", Verdict::conforms_weak,
     "a case with numerics that are weak by design does not count as coverage"},
    {Rule::undeclared_order,
     "undeclared_order",
     {{Ground::fits_otherwise, Verdict::conforms_weak},
      {Ground::declared_otherwise, Verdict::not_applicable},
      {Ground::may_fit_otherwise, Verdict::inconclusive}},
     "if the memory order of an input is disputed and the kernel declares none, either order is "
     "accepted"},
    {Rule::inconsistent_inputs, "inconsistent_inputs", Verdict::not_applicable,
     "if the numerics require inputs that match the forward, only cases with such inputs are "
     "judged"},
    {Rule::no_exact_inputs, "no_exact_inputs", Verdict::not_applicable,
     "an exact case needs inputs that are exact for the declared numerics"},
    {Rule::stored_case, "stored_case", Verdict::usage_error,
     "a file is readable, and its contents are consistent"},
    {Rule::judge_failure, "judge_failure", Verdict::tool_failure, "the judge itself does not fail"},
}};

/// Returns the verdict of a rule for this ground (observation). Errors: std::invalid_argument if
/// the rule does not have this ground.
Verdict verdict_of(Rule rule, Ground ground);

/// A verdict with its reason. A report can get its verdict only as a Decision. A Decision converts
/// to its verdict.
class Decision {
 public:
  /// The observation that led to the verdict. Empty if a finding of the report contains it.
  Fact fact;
  /// The sentence about the observation. Only evidence_of in report/sentences.hpp writes it.
  std::string evidence;

  Decision() = default;
  /// Creates a decision. Errors: std::invalid_argument if the rule does not have this ground.
  Decision(Rule rule, Ground ground, Fact seen);
  /// Creates the decision of a rule that has exactly one verdict. Errors: std::invalid_argument if
  /// the rule has several verdicts.
  Decision(Rule rule, Fact seen) : Decision(rule, Ground::only, std::move(seen)) {}
  /// Restores a decision from a stored report; the judge does not use this. `seen`: the sentence of
  /// the decision. Errors: std::invalid_argument if the rule cannot give this verdict.
  static Decision recorded(Verdict verdict, Rule rule, std::string seen);

  Verdict value() const { return verdict_; }
  Rule rule() const { return rule_; }
  /// Converts to the verdict, for code that does not need the reason.
  operator Verdict() const { return verdict_; }

 private:
  Verdict verdict_ = Verdict::tool_failure;
  Rule rule_ = Rule::judge_failure;
};

/// Creates a decision from a verdict alone, with the first rule that can give this verdict.
Decision some_decision(Verdict verdict, std::string seen);

/// Returns the decision `conforms`: no rule found a failure.
inline Decision no_objection() { return {Rule::agreement, FactKind::nothing_found}; }

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::Rule> = [] {
  Spellings<conformance::Rule, conformance::rules.size()> all{};
  for (std::size_t k = 0; k < conformance::rules.size(); ++k)
    all.entries[k] = {conformance::rules[k].rule, conformance::rules[k].word};
  return all;
}();

}  // namespace assay::spec
