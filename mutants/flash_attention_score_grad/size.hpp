#pragma once

#include <vector>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {

/// A mutant with a fault that appears only at some sizes, and a predicate that returns whether it
/// appears in a problem.
struct SizeMutant {
  Mutant mutant;
  bool (*concerns)(const Op::Problem& problem);
};

/// Returns mutants with faults at some sizes. A sweep (many random cases) detects them, but no
/// fixed case of the kill table does. Therefore the function `mutants` does not return them.
std::vector<SizeMutant> size_mutants();
/// Returns the mutants with a fault that appears only at some sizes and only if a call combines
/// several options.
std::vector<SizeMutant> meeting_mutants();

}  // namespace assay::mutants
