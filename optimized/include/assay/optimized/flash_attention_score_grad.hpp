#pragma once

#include <memory>

#include "assay/device/ascend.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

struct Options {
  int threads = 0;  ///< host threads, 0: all; never changes a bit of the result
};

/// The tiled gradient on a modelled device.
/// Errors of check: spec::Rejected. Errors of run: device::DeviceFault where a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScoreGrad>> flash_attention_score_grad(
    const device::Spec& device, Options options = {});

}  // namespace assay::optimized
