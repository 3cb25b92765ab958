#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::cli {

/// `assay mutants`: judges injected faults and correct ("healthy") variants and prints which check
/// detected which fault.
Command mutants_command();

/// The name of an implementation is this prefix followed by the name of a mutant.
inline constexpr const char* implementation_prefix = "mutant-";

/// All mutants, hand-written and generated.
template <class Op>
std::vector<mutants::MutantOf<Op>> every_mutant() {
  std::vector<mutants::MutantOf<Op>> all = mutants::mutants<Op>();
  std::ranges::move(mutants::generated_mutants<Op>(), std::back_inserter(all));
  return all;
}

}  // namespace assay::cli
