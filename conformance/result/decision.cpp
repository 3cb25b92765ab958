#include "assay/conformance/result/decision.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {
namespace {

const RuleText& text_of(Rule rule) { return rules.at(static_cast<std::size_t>(rule)); }

}  // namespace

Verdict verdict_of(Rule rule, Ground ground) {
  const Outcomes& outcomes = text_of(rule).verdicts;
  const auto found = std::ranges::find(outcomes, ground, &Outcomes::Outcome::ground);
  if (found == outcomes.end())
    throw std::invalid_argument(
        "the rule '" + std::string(text_of(rule).word) + "' " +
        (ground == Ground::only ? "can give several verdicts: say which observation it is based on"
                                : "does not decide on this observation"));
  return found->verdict;
}

Decision::Decision(Rule rule, Ground ground, Fact seen)
    : fact(std::move(seen)), verdict_(verdict_of(rule, ground)), rule_(rule) {}

Decision Decision::recorded(Verdict verdict, Rule rule, std::string seen) {
  if (!text_of(rule).verdicts.contains(verdict))
    throw std::invalid_argument("the rule '" + std::string(text_of(rule).word) +
                                "' cannot give the verdict '" +
                                std::string(spec::to_string(verdict)) + "'");
  Decision decision;
  decision.evidence = std::move(seen), decision.verdict_ = verdict, decision.rule_ = rule;
  return decision;
}

Decision some_decision(Verdict verdict, std::string seen) {
  const auto rule = std::ranges::find_if(
      rules, [&](const RuleText& one) { return one.verdicts.contains(verdict); });
  return Decision::recorded(verdict, rule->rule, std::move(seen));
}

}  // namespace assay::conformance
