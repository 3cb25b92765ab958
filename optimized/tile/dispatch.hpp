#pragma once

#include "assay/optimized/options.hpp"
#include "tile/kernels.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized::tile {

/// Returns the kernels of one instruction set. Errors: std::invalid_argument if the machine does
/// not have this instruction set.
const Kernels& kernels(Instructions instructions);
/// Returns the kernels of one instruction set, for an operator without host modes (special bf16
/// instructions for the products). Errors: std::invalid_argument if the machine does not have this
/// instruction set, or if the options select a host mode.
const Kernels& kernels_of_any_cpu(const Options& options);
/// Returns the kernels of a host mode, which multiplies pairs of bf16 numbers with special
/// instructions. Errors: std::invalid_argument if the machine does not have these instructions.
const PairKernels& pair_kernels(HostMode mode);
/// Returns the kernels of the mode amx_bf16 with an emulated AMX unit. Errors:
/// std::invalid_argument if the machine does not support the mode avx512_bf16.
const PairKernels& emulated_amx_kernels();

}  // namespace assay::optimized::tile
