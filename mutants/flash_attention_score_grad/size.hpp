#pragma once

#include <vector>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {

/// A mutant whose fault appears only at some sizes, and the predicate for those problems.
struct SizeMutant {
  Mutant mutant;
  bool (*concerns)(const Op::Problem& problem);
};

/// Mutants that `mutants` does not return: the cases of a sweep expose them, the cases of the kill
/// table do not.
std::vector<SizeMutant> size_mutants();
/// The size mutants whose fault appears only if a call combines several options.
std::vector<SizeMutant> meeting_mutants();

}  // namespace assay::mutants
