#pragma once

#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::bench {

/// Number of heads in host measurements: few, so that the host finishes soon.
inline constexpr std::int64_t host_heads = 2;

struct LongExtents {
  std::int64_t heads, tokens = 2048, channels = 128;
};

/// Makes a dense or causal problem with the layout BNSD. Its scale is 1/sqrt(128), for heads of 128
/// channels.
inline spec::FlashAttentionScoreGrad::Problem long_shape(spec::DType dtype, bool causal,
                                                         const LongExtents& extents) {
  spec::FlashAttentionScoreGrad::Problem p;
  p.dtype = dtype;
  p.heads_q = p.heads_kv = extents.heads;
  p.seq_q = p.seq_kv = extents.tokens;
  p.head_dim = p.head_dim_v = extents.channels;
  p.scale_value = 0.08838834764f;
  if (causal) {
    p.sparse_mode = 2;
    p.atten_mask = spec::MaskShape::compressed;
  }
  return p;
}

/// Returns the long problems: S = 2048 and D = 128, dense and causal, in fp32 and bf16.
inline std::vector<spec::FlashAttentionScoreGrad::Problem> long_shapes(std::int64_t heads) {
  std::vector<spec::FlashAttentionScoreGrad::Problem> shapes;
  for (const spec::DType dtype : {spec::DType::fp32, spec::DType::bf16})
    for (const bool causal : {false, true})
      shapes.push_back(long_shape(dtype, causal, {.heads = heads}));
  return shapes;
}

/// Returns a name such as "bf16 BNSD B1 N2 S2048 D128 causal".
inline std::string name_of(const spec::FlashAttentionScoreGrad::Problem& p) {
  return std::string(to_string(p.dtype)) + " " + std::string(to_string(p.input_layout)) + " B" +
         std::to_string(p.batch) + " N" + std::to_string(p.heads_q) + " S" +
         std::to_string(p.seq_q) + " D" + std::to_string(p.head_dim) +
         (p.sparse_mode == 2 ? " causal" : " dense");
}

/// Returns the number of floating-point operations of the five matrix products over the unmasked
/// pairs.
inline double flop_of(const spec::FlashAttentionScoreGrad::Problem& p) {
  const auto product = [](auto... extents) { return (static_cast<double>(extents) * ...); };
  const double pairs = product(p.batch, p.heads_q, p.seq_q, p.seq_kv);
  return 10.0 * pairs * static_cast<double>(p.head_dim) * (p.sparse_mode == 2 ? 0.5 : 1.0);
}

/// Returns causal problems of selected attention over `seq` tokens, with 1, 4 and 16 query heads
/// per key head. Each list selects 16 blocks of 64 keys. The head sizes are 192 and 128, as in the
/// NSA paper.
inline std::vector<spec::NsaSelectedAttentionGrad::Problem> selected_shapes(std::int64_t heads_kv,
                                                                            std::int64_t tokens) {
  std::vector<spec::NsaSelectedAttentionGrad::Problem> shapes;
  for (const std::int64_t group : {1, 4, 16}) {
    spec::NsaSelectedAttentionGrad::Problem p;
    p.heads_kv = heads_kv;
    p.heads_q = group * heads_kv;
    p.seq_q = p.seq_kv = tokens;
    p.selected_block_size = 64, p.selected_block_count = 16;
    p.scale_value = 0.0721687824f;
    p.sparse_mode = 2;
    p.atten_mask = spec::SelectedMask::compressed;
    shapes.push_back(p);
  }
  return shapes;
}

/// Returns a name such as "bf16 N16/1 S2048 16 x 64 keys, causal".
inline std::string name_of(const spec::NsaSelectedAttentionGrad::Problem& p) {
  return std::string(to_string(p.dtype)) + " N" + std::to_string(p.heads_q) + "/" +
         std::to_string(p.heads_kv) + " S" + std::to_string(p.seq_q) + " " +
         std::to_string(p.selected_block_count) + " x " + std::to_string(p.selected_block_size) +
         " keys" + (p.sparse_mode == 2 ? ", causal" : "");
}

/// Returns the number of floating-point operations of the matrix products over all listed keys,
/// including masked ones.
inline double flop_of(const spec::NsaSelectedAttentionGrad::Problem& p) {
  const auto product = [](auto... extents) { return (static_cast<double>(extents) * ...); };
  return 2.0 * product(p.batch, p.heads_q, p.seq_q, p.selected_block_size, p.selected_block_count) *
         static_cast<double>(3 * p.head_dim + 2 * p.head_dim_v);
}

}  // namespace assay::bench
