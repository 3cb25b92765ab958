#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// Returns the tiled gradient of flash attention on a modelled device.
///
/// Each output element is accumulated in fp32, in one fixed order. Scores: one chain of fused
/// multiply-adds, first over the channels of query, then over the channels of query_rope. dq: for
/// each key tile, one chain of fused multiply-adds over its keys; these partial sums are added in
/// ascending order. dk, dv: the row tiles of a query head are split into groups of consecutive
/// tiles (records). Each record has one chain over its queries; these partial sums are added in
/// order of head, then row. dsink: the sums of P dP of a row are added in ascending order of the
/// key tiles, then the rows of a head, row tile by row tile. The order depends only on the tiling.
/// Results are therefore bit-identical for every thread count and every instruction set of the
/// host.
///
/// The implementation also computes the forward: it processes tiles of keys in ascending order, and
/// rescales the sums of a row when its maximum grows.
///
/// Masked elements have P = 0 and dS = 0, so fully masked rows give exact zeros. Memory in addition
/// to the tensors: for each thread some tiles and the fp32 dq sums of one key head; for each query
/// row one number, with a sink two. In the host mode avx512_bf16, instructions multiply pairs of
/// bf16 numbers, each block starts its sums at zero, and a P below 2^-50 counts as zero. This mode
/// supports only bf16; its name is appended to the device name.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws device::DeviceFault if a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScoreGrad>> flash_attention_score_grad(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::FlashAttentionScoreGrad> {
  static constexpr auto make = flash_attention_score_grad;
  static std::string plan(const spec::FlashAttentionScoreGrad::Problem& problem,
                          const device::Spec& device);
  /// Returns the first iterations of the fastest schedule on one core, in the JSON format of
  /// Perfetto. Errors: NothingToCut if the problem has no tiling, or if no schedule of the model
  /// supports the problem.
  static std::string trace(const spec::FlashAttentionScoreGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
