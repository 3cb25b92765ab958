#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants {

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> healthy_statistics_orders();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> head_and_scale_mutants();
std::vector<Mutant> row_mutants();
std::vector<Mutant> tile_mutants();
std::vector<Mutant> rounding_mutants();
std::vector<Mutant> tensor_mutants();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> output_mutants();
std::vector<Mutant> sequence_mutants();
std::vector<Mutant> statistics_order_mutants();
std::vector<Mutant> sparse_mutants();
std::vector<Mutant> dropout_mutants();
std::vector<Mutant> pse_mutants();
std::vector<Mutant> rope_mutants();
std::vector<Mutant> forward_mutants();
std::vector<Mutant> conduct_mutants();
/// Returns the mutants with faults that users of attention kernels reported in public.
std::vector<Mutant> public_faults();
std::vector<Mutant> argument_mutants();

/// Returns a mutant of class Bug that follows `plan` and declares the numerics of `plan`.
template <class Bug>
Mutant planted(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

/// Returns a mutant that follows `plan` but declares the numerics of `declared`.
inline Mutant misdeclared(const std::string& name, std::string bug, const Plan& plan,
                          const Plan& declared) {
  return misdeclared_in<Op, Kernel>(name, std::move(bug), plan, declared);
}

}  // namespace assay::mutants
