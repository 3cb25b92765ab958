#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::optimized {

/// Returns an implementation of softmax attention on the host. Keys are processed tile by tile,
/// with the tiles of the gradient. When the maximum of a row grows, the sums of the row are
/// rescaled. The exponentials are rounded to the type of the tensors before the product with value,
/// and divided by their sum at the end. Results are bit-identical for every thread count and
/// instruction set.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws std::invalid_argument if the shape of a tensor does not
/// match the problem.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScore>> flash_attention_score(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::FlashAttentionScore> {
  static constexpr auto make = flash_attention_score;
  /// Formats a schedule for a device, not the tiling of the implementation on the host.
  static std::string plan(const spec::FlashAttentionScore::Problem& problem,
                          const device::Spec& device);
  static std::string trace(const spec::FlashAttentionScore::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
