#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "assay/conformance/result/verdict.hpp"

namespace assay::conformance {

/// Which rule decided a verdict. Words and sentences: `rules`.
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
  nothing_due,
  exemption,
  certificate,
  weak_numerics,
  undeclared_order,
  inconsistent_inputs,
  no_exact_inputs,
  stored_case,
  judge_failure,
};

/// What a rule saw, where that decides among several verdicts.
enum class Ground : std::uint8_t {
  only,  ///< the rule has one verdict
  // Calls:
  accepted,
  refused,            ///< a legal call
  documented_status,  ///< a forbidden call was refused with a status that the documents name
  other_status,       ///< the documents name none
  wrong_status,       ///< the documents name another one
  // Conduct:
  wrote_elsewhere,
  died,
  late,
  // Numbers:
  certain,    ///< no kernel with the declared numerics does that
  likely,     ///< chance can explain it
  confirmed,  ///< so it was, and a fresh seed showed it again
  // Controls:
  missed,  ///< some corrupted gradient
  blind,   ///< zeros would have passed
  // The order of disputed inputs:
  declared_otherwise,
  fits_otherwise,
  may_fit_otherwise,
};

/// The verdicts of a rule, each with its ground.
class Outcomes {
 public:
  /// A verdict, and what leads to it.
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

/// How a rule is named and explained, and what it decides.
struct RuleText {
  Rule rule;
  std::string_view word;      ///< in reports; a finding of the same rule has the same word
  Outcomes verdicts;          ///< that the rule can give; docs/verdicts.md
  std::string_view sentence;  ///< in conformance/README.md, "Rules"
};

/// All rules in the order of the enumeration. This table alone says which verdicts a rule may give;
/// docs/verdicts.md repeats it.
inline constexpr std::array<RuleText, 27> rules{{
    {Rule::agreement, "agreement", Verdict::conforms,
     "every rule on the numbers was checked, and none objects"},
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
     "a call that breaks a requirement is refused, with the status that the documents name"},
    {Rule::open_question, "open_question", Verdict::not_applicable,
     "what the documents dispute or leave open convicts nobody"},
    {Rule::not_offered, "not_offered", Verdict::not_applicable,
     "what an implementation does not offer is not asked of it"},
    {Rule::conduct,
     "conduct",
     {{Ground::wrote_elsewhere, Verdict::nonconformant_structural},
      {Ground::died, Verdict::crash},
      {Ground::late, Verdict::timeout}},
     "a call ends in time, throws nothing but a refusal, and writes into its outputs alone"},
    {Rule::structure, "structure", Verdict::nonconformant_structural,
     "zeros, infinities, NaN and replicas stand where they are due, whatever the tolerance"},
    {Rule::exact_bits, "exact_bits", Verdict::nonconformant_structural,
     "the outputs of an exact case have the bits that are due"},
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
     "the errors do not lean to one side"},
    {Rule::fresh_seeds, "fresh_seeds", Verdict::conforms,
     "what chance can explain convicts only if one of two fresh seeds shows it again"},
    {Rule::determinism, "determinism", Verdict::nondeterministic,
     "two runs agree where a fixed order is declared"},
    {Rule::relation,
     "relation",
     {{Ground::certain, Verdict::nonconformant_proven},
      {Ground::confirmed, Verdict::nonconformant_statistical},
      {Ground::likely, Verdict::statistical_unconfirmed}},
     "related runs agree"},
    {Rule::domain, "domain", Verdict::not_applicable,
     "a relation is judged where it holds, and where its runs are short enough to be bounded"},
    {Rule::vacuity, "vacuity", Verdict::vacuous,
     "something was compared, and it could have differed"},
    {Rule::control,
     "control",
     {{Ground::missed, Verdict::conforms_weak}, {Ground::blind, Verdict::inconclusive}},
     "the case would have noticed corrupted gradients"},
    {Rule::nothing_due, "nothing_due", Verdict::conforms_weak,
     "some gradient exceeds its tolerance"},
    {Rule::exemption, "exemption", Verdict::inconclusive,
     "at most one judged element in a hundred is exempt"},
    {Rule::certificate, "certificate", Verdict::inconclusive,
     "the reference is proven to 2^-10 of the tolerance"},
    {Rule::weak_numerics, "weak_numerics", Verdict::conforms_weak,
     "numerics that are weak by design earn no coverage"},
    {Rule::undeclared_order,
     "undeclared_order",
     {{Ground::fits_otherwise, Verdict::conforms_weak},
      {Ground::declared_otherwise, Verdict::not_applicable},
      {Ground::may_fit_otherwise, Verdict::inconclusive}},
     "a kernel that declares no order of disputed inputs may read either"},
    {Rule::inconsistent_inputs, "inconsistent_inputs", Verdict::not_applicable,
     "numerics that need what the forward gives for the very data are judged on such data"},
    {Rule::no_exact_inputs, "no_exact_inputs", Verdict::not_applicable,
     "an exact case needs inputs that are exact for the declared numerics"},
    {Rule::stored_case, "stored_case", Verdict::usage_error,
     "what a file holds fits together, and can be read"},
    {Rule::judge_failure, "judge_failure", Verdict::tool_failure, "the judge itself does not fail"},
}};

/// The verdict that a rule gives on this ground.
/// Errors: std::invalid_argument where the rule does not know the ground.
Verdict verdict_of(Rule rule, Ground ground);

/// A verdict with its reason: the only way in which a report says one. It reads as its verdict.
class Decision {
 public:
  std::string evidence;  ///< a sentence for people: what was seen

  Decision() = default;
  /// Errors: std::invalid_argument where the rule does not know the ground.
  Decision(Rule rule, Ground ground, std::string seen);
  /// For a rule with exactly one verdict. Errors: std::invalid_argument for a rule with several.
  Decision(Rule rule, std::string seen) : Decision(rule, Ground::only, std::move(seen)) {}
  /// A decision that was made before, as a report has it. The judge makes none so.
  /// Errors: std::invalid_argument where the rule does not give this verdict.
  static Decision recorded(Verdict verdict, Rule rule, std::string seen);

  Verdict value() const { return verdict_; }
  Rule rule() const { return rule_; }
  /// Whoever compares verdicts or counts them needs no reason.
  operator Verdict() const { return verdict_; }

 private:
  Verdict verdict_ = Verdict::tool_failure;
  Rule rule_ = Rule::judge_failure;
};

/// Makes a decision with the first rule that can give the verdict, where the rule does not matter.
Decision some_decision(Verdict verdict, std::string seen);

/// Conforms so far: nothing was seen that speaks against `subject`.
inline Decision no_objection(std::string_view subject) {
  return {Rule::agreement, "nothing speaks against " + std::string(subject)};
}

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
