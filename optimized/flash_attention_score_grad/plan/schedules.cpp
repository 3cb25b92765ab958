#include "flash_attention_score_grad/plan/schedules.hpp"

#include <algorithm>

#include "flash_attention_score_grad/plan/features.hpp"
#include "flash_attention_score_grad/window.hpp"

namespace assay::optimized {
namespace {

using Problem = spec::FlashAttentionScoreGrad::Problem;
using schedules::Sequences;

/// Of a compressed mask a tile stays in the unified buffer, which the edges of the window alone are
/// looked up in (device facts, 4.3).
schedules::Features features_of_tiles(Problem p) {
  if (is_compressed(p.atten_mask)) p.atten_mask = spec::MaskShape::absent;
  return features_of(p);
}

bool alike(const Sequences& x, const Sequences& y) {
  return x.seq_q == y.seq_q && x.seq_kv == y.seq_kv && x.before == y.before && x.after == y.after &&
         x.prefix == y.prefix;
}

/// Those that are alike behind each other are listed once. Where the mask alone says what is seen,
/// every block is computed.
std::vector<Sequences> sequences_of(const Problem& p) {
  std::vector<Sequences> all;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const Window window = window_of(p, b);
    const Sequences one = {.seq_q = p.length_q(b),
                           .seq_kv = p.length_kv(b),
                           .before = window.before,
                           .after = window.after,
                           .prefix = window.prefix};
    if (!all.empty() && alike(all.back(), one))
      ++all.back().count;
    else
      all.push_back(one);
  }
  return all;
}

}  // namespace

std::variant<schedules::Attention, std::string> attention_of(const Problem& p) {
  const bool single = p.heads_q == 1 && (p.input_layout != spec::Layout::sbh || p.batch == 1);
  schedules::Attention attention = {.heads = p.heads_q,
                                    .heads_kv = p.heads_kv,
                                    .seq_q = p.seq_q,
                                    .seq_kv = p.seq_kv,
                                    .head_dim = p.head_dim,
                                    .contiguous = p.input_layout == spec::Layout::bnsd || single,
                                    .head_dim_v = p.head_dim_v,
                                    .head_dim_rope = p.head_dim_rope,
                                    .element = {spec::size_of(p.dtype)},
                                    .listed = sequences_of(p),
                                    .features = features_of_tiles(p)};
  if (attention.blocks() == 0) return "no query sees a key";
  return attention;
}

}  // namespace assay::optimized
