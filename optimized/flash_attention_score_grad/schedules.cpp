#include "flash_attention_score_grad/schedules.hpp"

namespace assay::optimized {
namespace {

using Problem = spec::FlashAttentionScoreGrad::Problem;

/// Why not, or nothing.
std::string what_is_not_modelled(const Problem& p) {
  if (p.dtype == spec::DType::fp32) return "operands of fp32 are not modelled";
  if (p.head_dim_rope > 0) return "rope is not modelled";
  if (p.head_dim != p.head_dim_v)
    return "head sizes of query and value that differ are not modelled";
  if (!p.lengths_q.empty() || !p.lengths_kv.empty()) return "packed sequences are not modelled";
  if (p.pse_shift != spec::PseShape::absent) return "a position bias is not modelled";
  if (p.has_dropout()) return "dropout is not modelled";
  if (p.atten_mask == spec::MaskShape::absent || p.sparse_mode == 3) return {};
  if (p.sparse_mode == 2 && p.seq_q == p.seq_kv) return {};
  return "of masks only causal ones from the lower right corner are modelled";
}

}  // namespace

std::variant<schedules::Attention, std::string> attention_of(const Problem& p) {
  if (std::string reason = what_is_not_modelled(p); !reason.empty()) return reason;
  const bool single = p.heads_q == 1 && (p.input_layout != spec::Layout::sbh || p.batch == 1);
  return schedules::Attention{.heads = p.batch * p.heads_q,
                              .heads_kv = p.batch * p.heads_kv,
                              .seq_q = p.seq_q,
                              .seq_kv = p.seq_kv,
                              .head_dim = p.head_dim,
                              .causal = p.atten_mask != spec::MaskShape::absent,
                              .contiguous = p.input_layout == spec::Layout::bnsd || single};
}

}  // namespace assay::optimized
