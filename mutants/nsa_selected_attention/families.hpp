#pragma once

#include <string>
#include <vector>

#include "injecting.hpp"
#include "nsa_selected_attention/kernel.hpp"

namespace assay::mutants::selected_forward {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
/// Returns mutants: kernels with a fault in the block lists, mask, softmax or outputs.
std::vector<Mutant> number_mutants();
std::vector<Mutant> argument_mutants();

template <class Bug>
Mutant injected(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return injected_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::selected_forward
