#pragma once

#include <vector>

#include "assay/mutants/mutant.hpp"
#include "compression/faults.hpp"
#include "nsa_compress_grad/kernel.hpp"

namespace assay::mutants::compress::grad {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> window_mutants();
std::vector<Mutant> sum_mutants();
std::vector<Mutant> output_mutants();
/// Returns mutants (kernels with a fault) with faults that users reported publicly for similar
/// kernels.
std::vector<Mutant> public_faults();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> argument_mutants();

inline constexpr WindowInjector<Op, Kernel> inject = {{device_like}};

}  // namespace assay::mutants::compress::grad
