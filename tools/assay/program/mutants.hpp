#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::cli {

/// Returns the command `assay mutants`. It judges kernels with injected faults and correct variants
/// ("healthy" mutants), and prints which check detected which fault.
Command mutants_command();

/// Prefix of the implementation name of every mutant, as in "mutant-scale_missing_on_dk".
inline constexpr const char* implementation_prefix = "mutant-";

/// Returns all mutants of an operator, both hand-written and generated ones.
template <class Op>
std::vector<mutants::MutantOf<Op>> every_mutant() {
  std::vector<mutants::MutantOf<Op>> all = mutants::mutants<Op>();
  std::ranges::move(mutants::generated_mutants<Op>(), std::back_inserter(all));
  return all;
}

}  // namespace assay::cli
