#include "assay/conformance/result/decision.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {
namespace {

const RuleText& text_of(Rule rule) { return rules.at(static_cast<std::size_t>(rule)); }

/// The one verdict of the rule.
Verdict only_verdict(Rule rule) {
  const auto& known = spec::spellings_of<Verdict>.entries;
  const auto only = std::ranges::find_if(
      known, [&](const auto& entry) { return text_of(rule).verdicts.is_only(entry.first); });
  if (only == known.end())
    throw std::invalid_argument("the rule '" + std::string(text_of(rule).word) +
                                "' gives several verdicts: name one");
  return only->first;
}

}  // namespace

Decision::Decision(Rule rule, std::string seen)
    : Decision(only_verdict(rule), rule, std::move(seen)) {}

Decision::Decision(Verdict verdict, Rule rule, std::string seen)
    : evidence(std::move(seen)), verdict_(verdict), rule_(rule) {
  if (!text_of(rule).verdicts.contains(verdict))
    throw std::invalid_argument("the rule '" + std::string(text_of(rule).word) +
                                "' does not give the verdict '" +
                                std::string(spec::to_string(verdict)) + "'");
}

Decision some_decision(Verdict verdict, std::string seen) {
  const auto rule = std::ranges::find_if(
      rules, [&](const RuleText& one) { return one.verdicts.contains(verdict); });
  return {verdict, rule->rule, std::move(seen)};
}

}  // namespace assay::conformance
