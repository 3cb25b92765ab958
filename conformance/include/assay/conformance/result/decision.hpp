#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// How a rule is named and explained.
struct RuleText {
  Rule rule;
  std::string_view word;      ///< in reports; a finding of the same rule has the same word
  std::string_view sentence;  ///< in conformance/README.md, "Rules"
};

/// Every rule in the order of the enumeration.
inline constexpr std::array<RuleText, 27> rules{{
    {Rule::agreement, "agreement", "every rule on the numbers was checked, and none objects"},
    {Rule::legal_call, "legal_call", "a call that no document forbids is accepted in both phases"},
    {Rule::forbidden_call, "forbidden_call",
     "a call that breaks a requirement is refused, with the status that the documents name"},
    {Rule::open_question, "open_question",
     "what the documents dispute or leave open convicts nobody"},
    {Rule::not_offered, "not_offered", "what an implementation does not offer is not asked of it"},
    {Rule::conduct, "conduct",
     "a call ends in time, throws nothing but a refusal, and writes into its outputs alone"},
    {Rule::structure, "structure",
     "zeros, infinities, NaN and replicas stand where they are due, whatever the tolerance"},
    {Rule::exact_bits, "exact_bits", "the outputs of an exact case have the bits that are due"},
    {Rule::bound, "bound", "every element lies within its bound"},
    {Rule::tile_sum, "tile_sum", "the sum of a tile lies within its bound"},
    {Rule::rms, "rms", "the root mean square of the errors is at most R_max"},
    {Rule::bias, "bias", "the errors do not lean to one side"},
    {Rule::fresh_seeds, "fresh_seeds",
     "what chance can explain convicts only if one of two fresh seeds shows it again"},
    {Rule::determinism, "determinism", "two runs agree where a fixed order is declared"},
    {Rule::relation, "relation", "related runs agree"},
    {Rule::domain, "domain",
     "a relation is judged where it holds, and where its runs are short enough to be bounded"},
    {Rule::vacuity, "vacuity", "something was compared, and it could have differed"},
    {Rule::control, "control", "the case would have noticed corrupted gradients"},
    {Rule::nothing_due, "nothing_due", "some gradient exceeds its tolerance"},
    {Rule::exemption, "exemption", "at most one judged element in a hundred is exempt"},
    {Rule::certificate, "certificate", "the reference is proven to 2^-10 of the tolerance"},
    {Rule::weak_numerics, "weak_numerics", "numerics that are weak by design earn no coverage"},
    {Rule::undeclared_order, "undeclared_order",
     "a kernel that declares no order of disputed inputs may read either"},
    {Rule::inconsistent_inputs, "inconsistent_inputs",
     "numerics that need what the forward gives for the very data are judged on such data"},
    {Rule::no_exact_inputs, "no_exact_inputs",
     "an exact case needs inputs that are exact for the declared numerics"},
    {Rule::stored_case, "stored_case", "what a file holds fits together, and can be read"},
    {Rule::judge_failure, "judge_failure", "the judge itself does not fail"},
}};

/// A verdict with its reason: the only way in which a report says one. It reads as its verdict.
struct Decision {
  Verdict value = Verdict::tool_failure;
  Rule rule = Rule::judge_failure;
  std::string evidence;  ///< a sentence for people: what was seen

  Decision() = default;
  Decision(Verdict verdict, Rule decided_by, std::string seen)
      : value(verdict), rule(decided_by), evidence(std::move(seen)) {}

  /// Whoever compares verdicts or counts them needs no reason.
  operator Verdict() const { return value; }
};

/// Conforms so far: nothing was seen that speaks against `subject`.
inline Decision no_objection(std::string_view subject) {
  return {Verdict::conforms, Rule::agreement, "nothing speaks against " + std::string(subject)};
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
