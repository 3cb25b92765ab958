#pragma once

#include <vector>

#include "assay/mutants/mutant.hpp"
#include "compression/faults.hpp"
#include "nsa_compress/kernel.hpp"

namespace assay::mutants::compress::forward {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
/// Returns mutants: kernels with a fault in windows, weights, sums, strides or the output.
std::vector<Mutant> number_mutants();
/// Returns mutants (kernels with a fault) with faults that users reported publicly for similar
/// kernels.
std::vector<Mutant> public_faults();
std::vector<Mutant> argument_mutants();

inline constexpr WindowInjector<Op, Kernel> inject = {{device_like}};

}  // namespace assay::mutants::compress::forward
