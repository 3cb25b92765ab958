#pragma once

#include <string>
#include <vector>

#include "nsa_selected_attention/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants::selected_forward {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
/// Mutants with a fault in lists, mask, softmax or outputs.
std::vector<Mutant> number_mutants();
std::vector<Mutant> argument_mutants();

template <class Bug>
Mutant planted(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::selected_forward
