#pragma once

#include <cstdint>
#include <vector>

#include "causes/conditions.hpp"

namespace assay::conformance {

/// Conditions that hold together.
struct SeparatingRule {
  std::vector<const Condition*> terms;
  CaseSet cases;  ///< that meet all of them
};

/// The cases that a rule is learnt from: those that fail and have no rule yet, and those that pass.
struct Sample {
  CaseSet open, passed;
};

/// Conditions that may be terms, and rules of other outputs, which cost next to nothing: one bug
/// shows in several outputs.
struct Vocabulary {
  std::vector<const Condition*> conditions;
  std::vector<std::vector<const Condition*>> rules;
};

/// The rule of at most three terms that separates the open cases from the passed ones best. It
/// has no terms if no rule is worth its terms: if fewer bits say which cases fail without a rule
/// than with one. `all` are all the cases.
SeparatingRule learn(const Vocabulary& vocabulary, const CaseSet& all, const Sample& sample);

}  // namespace assay::conformance
