#pragma once

#include <vector>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {

/// A planted bug that shows in some sizes alone, and which problems have them.
struct SizeMutant {
  Mutant mutant;
  bool (*concerns)(const Op::Problem& problem);
};

/// They are not among `mutants`: the cases that show them are those of a sweep.
std::vector<SizeMutant> size_mutants();
/// Those of them that need several choices of a call at once.
std::vector<SizeMutant> meeting_mutants();

}  // namespace assay::mutants
