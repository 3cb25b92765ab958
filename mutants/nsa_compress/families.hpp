#pragma once

#include <vector>

#include "assay/mutants/mutant.hpp"
#include "compression/faults.hpp"
#include "nsa_compress/kernel.hpp"

namespace assay::mutants::compress::forward {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
/// Mutants with a fault in windows, weights, sums, strides or in the output.
std::vector<Mutant> number_mutants();
/// Mutants with faults that users of such kernels reported in public.
std::vector<Mutant> public_faults();
std::vector<Mutant> argument_mutants();

inline constexpr WindowInjector<Op, Kernel> inject = {{device_like}};

}  // namespace assay::mutants::compress::forward
