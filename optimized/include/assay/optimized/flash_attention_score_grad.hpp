#pragma once

#include <memory>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::optimized {

/// Host instructions that the tile kernels use. None of them changes a bit of the result.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

}  // namespace assay::optimized

template <>
inline constexpr auto assay::spec::spellings_of<assay::optimized::Instructions> =
    assay::spec::Spellings<assay::optimized::Instructions, 4>{{{
        {assay::optimized::Instructions::fastest, "fastest"},
        {assay::optimized::Instructions::avx512, "avx512"},
        {assay::optimized::Instructions::avx2, "avx2"},
        {assay::optimized::Instructions::portable, "portable"},
    }}};

namespace assay::optimized {

/// What this machine can execute, fastest first; `portable` is always there.
std::vector<Instructions> available_instructions();

struct Options {
  int threads = 0;  ///< host threads, 0: all; never changes a bit of the result
  Instructions instructions = Instructions::fastest;
};

/// The tiled gradient on a modelled device.
///
/// Each output element is accumulated in fp32 in one order. Scores: one chain of fused multiply-adds
/// over the channels of query, then over those of query_rope. dq: per key tile one chain of fused
/// multiply-adds over its keys, the tiles added in ascending order. dk, dv: per record of row tiles
/// of one query head one chain over its queries, the records added in order of head, then row. The
/// order follows from the tiling alone, so the bits depend on neither threads nor instructions.
///
/// It has a forward, too: tiles of keys in ascending order, whose sums are rescaled when a row's maximum grows. No
/// cycles are modelled of it.
///
/// Masked elements have P = 0 and dS = 0, so that dead rows give exact zeros. Beyond the tensors it
/// holds, per thread, some tiles and the fp32 sums of dq of one key head, and a number per query row.
/// Errors: std::invalid_argument for instructions that this machine lacks. Of check:
/// spec::Rejected. Of run:
///         device::DeviceFault where a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::FlashAttentionScoreGrad>> flash_attention_score_grad(
    const device::Spec& device, Options options = {});

}  // namespace assay::optimized
