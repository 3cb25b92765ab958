#pragma once

#include <cstdint>
#include <vector>

#include "causes/conditions.hpp"

namespace assay::conformance {

/// Conditions that must all hold.
struct SeparatingRule {
  std::vector<const Condition*> terms;
  CaseSet cases;  ///< cases for which all terms hold
};

/// The cases from which a rule is learnt. open: failing cases that do not have a rule yet. passed:
/// passing cases.
struct Sample {
  CaseSet open, passed;
};

/// The conditions that a rule may use, and the rules of other outputs. The search prefers rules
/// with a short encoding; reusing another output's rule takes very few bits, because one bug often
/// shows in several outputs.
struct Vocabulary {
  std::vector<const Condition*> conditions;
  std::vector<std::vector<const Condition*>> rules;
};

/// Learns the rule with at most three terms that best separates the open cases from the passed
/// cases. The rule has no terms if they are not worth their cost, which means that encoding the
/// failing cases without a rule takes fewer bits. `all`: all cases.
SeparatingRule learn(const Vocabulary& vocabulary, const CaseSet& all, const Sample& sample);

}  // namespace assay::conformance
