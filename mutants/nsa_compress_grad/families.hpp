#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "nsa_compress_grad/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants::compress {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> window_mutants();
std::vector<Mutant> sum_mutants();
std::vector<Mutant> output_mutants();
/// Mutants with faults that users of such kernels reported in public.
std::vector<Mutant> public_faults();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> argument_mutants();

/// Returns a mutant of class Bug that follows `plan` and declares the numerics of `plan`.
template <class Bug>
Mutant planted(const std::string& name, std::string bug, const Plan& plan = device_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::compress
