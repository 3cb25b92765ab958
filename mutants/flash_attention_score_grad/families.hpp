#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/specimen.hpp"
#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants {

std::vector<Specimen> healthy_kernels();
std::vector<Specimen> mask_mutants();
std::vector<Specimen> head_and_scale_mutants();
std::vector<Specimen> row_mutants();
std::vector<Specimen> tile_mutants();
std::vector<Specimen> rounding_mutants();
std::vector<Specimen> tensor_mutants();
std::vector<Specimen> output_mutants();
std::vector<Specimen> sequence_mutants();
std::vector<Specimen> sparse_mutants();
std::vector<Specimen> dropout_mutants();
std::vector<Specimen> pse_mutants();
std::vector<Specimen> rope_mutants();
std::vector<Specimen> forward_mutants();
std::vector<Specimen> argument_specimens();
/// Ids of the rows that the argument specimens know.
std::vector<std::string> checked_rows();

/// A kernel of class Bug that follows `plan` and declares it.
template <class Bug>
Specimen planted(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

/// A kernel that follows `plan` but declares `declared`.
inline Specimen misdeclared(const std::string& name, std::string bug, const Plan& plan,
                            const Plan& declared) {
  return misdeclared_in<Op, Kernel>(name, std::move(bug), plan, declared);
}

}  // namespace assay::mutants
