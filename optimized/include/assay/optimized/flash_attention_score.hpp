#pragma once

#include <memory>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::optimized {

/// Softmax attention on the host. Keys are processed tile by tile, with the tiles of the gradient.
/// When the maximum of a row grows, its sums are rescaled; the exponentials are rounded to the type
/// of the tensors before the product with value, and divided by their sum at the end. Results are
/// bit-identical for every thread count and instruction set.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws std::invalid_argument if a tensor has another shape than the
/// problem says.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScore>> flash_attention_score(
    const device::Spec& device, Options options = {});

/// Creates the implementation. Its tiling for a device is not modelled.
template <>
struct Tiled<spec::FlashAttentionScore> {
  static constexpr auto make = flash_attention_score;
};

}  // namespace assay::optimized
