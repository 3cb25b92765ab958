#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::optimized {

/// Returns the tiled gradient of NSA compression on the vector cores of a modelled device.
///
/// Each output element is accumulated in fp32, in one fixed order, and rounded once, ties to even.
/// input_grad: one chain of fused multiply-adds over the windows that cover the token, in ascending
/// order; a token that no window covers gets exact zeros. weight_grad: the tokens are split into
/// parts, the channels of a head into slices. For each part and slice there are 16 chains; channel
/// c belongs to chain c mod 16. A chain runs over the windows and, within a window, over its
/// channels. The chains are added pairwise, then slices and parts in ascending order. Products of
/// two 16-bit numbers are exact, so a fused multiply-add gives the same bits as a separate product
/// and sum. The order depends only on the tiling. Results are therefore bit-identical for every
/// thread count and every instruction set of the host.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws device::DeviceFault if even the smallest tiles do not fit
/// the device, and std::invalid_argument if the shape of a tensor does not match the problem.
std::unique_ptr<spec::Implementation<spec::NsaCompressGrad>> nsa_compress_grad(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::NsaCompressGrad> {
  static constexpr auto make = nsa_compress_grad;
  static std::string plan(const spec::NsaCompressGrad::Problem& problem,
                          const device::Spec& device);
  /// Returns the first instructions of each queue in the fastest schedule, in the JSON format of
  /// Perfetto.
  static std::string trace(const spec::NsaCompressGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
