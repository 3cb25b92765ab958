#pragma once

#include <cstdint>
#include <vector>

#include "report/causes/conditions.hpp"

namespace assay::conformance {

/// Conditions that hold together.
struct SeparatingRule {
  std::vector<const Condition*> terms;
  CaseSet cases;  ///< that meet all of them
};

/// What a rule is learnt from: cases that fail and are not explained yet, and cases that do not.
struct Sample {
  CaseSet open, passed;
};

/// The rule of at most three terms that tells most of the open cases from the passed ones. A
/// further term must be worth it, and divide the cases as no term of so many would by chance. `all`
/// are all the cases.
SeparatingRule learn(const std::vector<const Condition*>& conditions, const CaseSet& all,
                     const Sample& sample);

}  // namespace assay::conformance
