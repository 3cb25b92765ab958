#pragma once

#include <cstdint>
#include <vector>

#include "causes/conditions.hpp"

namespace assay::conformance {

/// A rule that separates failing cases from passing cases. A case satisfies the rule if it
/// satisfies all its conditions.
struct SeparatingRule {
  std::vector<const Condition*> terms;
  CaseSet cases;  ///< cases for which all terms hold
};

/// The cases from which a rule (set of conditions) is learnt. open: failing cases that no rule
/// explains yet. passed: passing cases.
struct Sample {
  CaseSet open, passed;
};

/// The conditions that the search may use, and the rules (sets of conditions) that explain other
/// outputs. The search prefers rules that can be encoded with few bits. A rule that another output
/// already has takes very few bits, because one bug often affects several outputs.
struct Vocabulary {
  std::vector<const Condition*> conditions;
  std::vector<std::vector<const Condition*>> rules;
};

/// Learns the set of at most three conditions that best separates unexplained failing cases from
/// passing cases. The set is empty if conditions would not reduce the number of bits that encode
/// the failing cases. `all`: all cases.
SeparatingRule learn(const Vocabulary& vocabulary, const CaseSet& all, const Sample& sample);

}  // namespace assay::conformance
