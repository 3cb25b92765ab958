#pragma once

#include <vector>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {

/// A mutant whose fault appears only at some sizes, and the predicate for those problems.
struct SizeMutant {
  Mutant mutant;
  bool (*concerns)(const Op::Problem& problem);
};

/// Returns mutants that the function `mutants` does not return, because cases of a sweep detect
/// them, but no case of the kill table does.
std::vector<SizeMutant> size_mutants();
/// The size mutants whose fault appears only if a call combines several options.
std::vector<SizeMutant> meeting_mutants();

}  // namespace assay::mutants
