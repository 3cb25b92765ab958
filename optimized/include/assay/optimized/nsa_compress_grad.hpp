#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::optimized {

/// The tiled gradient of compression on the vector cores of a modelled device.
///
/// Each output element is accumulated in fp32 in one order and rounded once, ties to even.
/// input_grad: one chain of fused multiply-adds over the windows that cover the token, in ascending
/// order; a token that no window covers gives exact zeros. weight_grad: per part of the tokens and
/// slice of the channels, 16 chains, channel c in chain c mod 16, over the windows and in each over
/// its channels; the chains are added pairwise, then slices and parts in ascending order. Products
/// of two 16-bit numbers are exact, so that it does not matter that the chains are fused. The order
/// follows from the tiling alone, so the bits depend on neither threads nor instructions.
///
/// Errors: std::invalid_argument for instructions that this machine lacks. Of check:
/// spec::Rejected. Of run: device::DeviceFault where not even the smallest tiles fit the device,
/// std::invalid_argument for tensors that are not of the problem's shapes.
std::unique_ptr<spec::Implementation<spec::NsaCompressGrad>> nsa_compress_grad(
    const device::Spec& device, Options options = {});

/// What programs that offer all implementations make of this one.
template <>
struct Tiled<spec::NsaCompressGrad> {
  static constexpr auto make = nsa_compress_grad;
  static std::string plan(const spec::NsaCompressGrad::Problem& problem,
                          const device::Spec& device);
  /// The first turns of the queues in the fastest schedule, in the JSON that Perfetto opens.
  static std::string trace(const spec::NsaCompressGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
