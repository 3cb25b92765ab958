#pragma once

#include <string>
#include <vector>

#include "injecting.hpp"
#include "nsa_selected_attention_grad/kernel.hpp"
#include "selection/faults.hpp"

namespace assay::mutants::selected {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> list_mutants();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> row_mutants();
std::vector<Mutant> output_mutants();
/// Returns mutants (kernels with a fault) with faults that users reported publicly for similar
/// kernels.
std::vector<Mutant> public_faults();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> argument_mutants();

template <class Bug>
Mutant injected(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return injected_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::selected
