#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// The tiled gradient on a modelled device.
///
/// Each output element is accumulated in fp32 in one order. Scores: one chain of fused
/// multiply-adds over the channels of query, then over those of query_rope. dq: per key tile one
/// chain of fused multiply-adds over its keys, the tiles added in ascending order. dk, dv: per
/// record of row tiles of one query head one chain over its queries, the records added in order of
/// head, then row. The order follows from the tiling alone, so the bits depend on neither threads
/// nor instructions.
///
/// It has a forward, too: tiles of keys in ascending order, whose sums are rescaled when a row's
/// maximum grows. No cycles are modelled of it.
///
/// Masked elements have P = 0 and dS = 0, so that dead rows give exact zeros. Beyond the tensors it
/// holds, per thread, some tiles and the fp32 sums of dq of one key head, and a number per query
/// row.
/// In the host mode avx512_bf16 the products multiply bf16 numbers pair by pair, each block's from
/// zero, and a P below 2^-50 counts as zero; it offers bf16 only and is named behind the device.
///
/// Errors: std::invalid_argument for instructions that this machine lacks. Of check:
/// spec::Rejected. Of run:
///         device::DeviceFault where a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScoreGrad>> flash_attention_score_grad(
    const device::Spec& device, Options options = {});

/// What programs that offer all implementations make of this one.
template <>
struct Tiled<spec::FlashAttentionScoreGrad> {
  static constexpr auto make = flash_attention_score_grad;
  static std::string plan(const spec::FlashAttentionScoreGrad::Problem& problem,
                          const device::Spec& device);
  /// The first rounds of the fastest schedule on one core, in the JSON that Perfetto opens.
  /// Errors: NothingToCut, also where no schedule is modelled.
  static std::string trace(const spec::FlashAttentionScoreGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
