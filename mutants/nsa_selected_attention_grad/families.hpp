#pragma once

#include <string>
#include <vector>

#include "nsa_selected_attention_grad/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants::selected {

using Specimen = SpecimenOf<Op>;

std::vector<Specimen> healthy_kernels();
std::vector<Specimen> list_mutants();
std::vector<Specimen> mask_mutants();
std::vector<Specimen> row_mutants();
std::vector<Specimen> output_mutants();
std::vector<Specimen> argument_specimens();
/// Ids of the rows that the argument specimens know.
std::vector<std::string> checked_rows();

template <class Bug>
Specimen planted(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::selected
