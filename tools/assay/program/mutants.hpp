#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::cli {

/// `assay mutants`: judges planted bugs and healthy variants and prints which check caught which.
Command mutants_command();

/// Before the name of a mutant, it is that of an implementation.
inline constexpr const char* implementation_prefix = "mutant-";

/// Thought of and grown.
template <class Op>
std::vector<mutants::MutantOf<Op>> every_mutant() {
  std::vector<mutants::MutantOf<Op>> all = mutants::mutants<Op>();
  std::ranges::move(mutants::grown_mutants<Op>(), std::back_inserter(all));
  return all;
}

}  // namespace assay::cli
