#pragma once

#include "assay/optimized/options.hpp"
#include "tile/kernels.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized::tile {

/// The kernels of one instruction set. Errors: std::invalid_argument if this machine lacks it.
const Kernels& kernels(Instructions instructions);
/// The same for an operator without host modes. Errors: std::invalid_argument where one is asked
/// for.
const Kernels& kernels_of_any_cpu(const Options& options);
/// Those of a host mode that has its own. Errors: std::invalid_argument if this machine lacks them.
const PairKernels& pair_kernels(HostMode mode);
/// Those of amx_bf16 with its unit emulated. Errors: std::invalid_argument if this machine lacks
/// what the mode avx512_bf16 needs.
const PairKernels& emulated_amx_kernels();

}  // namespace assay::optimized::tile
