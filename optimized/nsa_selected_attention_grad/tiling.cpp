#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"

#include <algorithm>
#include <sstream>

#include "model/block_planner.hpp"

namespace assay::optimized::selected {

using device::round_up;
using Problem = spec::NsaSelectedAttentionGrad::Problem;

bool is_causal(const Problem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}

/// Returns the largest number of tokens in a row tile: at least one, at most all tokens of query. A
/// row tile contains all heads of each of its tokens.
std::int64_t most_tokens(const Problem& p, const device::Spec& device) {
  const std::int64_t most_rows = std::max(block_edge(device), p.group());
  return std::min(most_rows / p.group(), p.seq_q);
}

Tiling plan(const Problem& p, const device::Spec& device) {
  return tiling_of(p, device, most_tokens(p, device));
}

Tiling tiling_of(const Problem& p, const device::Spec& device, std::int64_t tokens) {
  const BlockNeeds needs = {.rows = round_up(tokens * p.group(), fractal),
                            .columns = p.selected_block_size,
                            .head_dim = p.head_dim,
                            .head_dim_rope = 0,
                            .head_dim_v = p.head_dim_v,
                            .element = spec::size_of(p.dtype),
                            .features = [&](std::int64_t scores) {
                              std::vector<Piece> pieces;
                              if (is_causal(p)) pieces.push_back({"mask", {scores}});
                              return pieces;
                            }};
  return {plan_block(needs, device), tokens};
}

std::string extents_text(const Tiling& t) {
  std::ostringstream text;
  text << "block " << t.rows << " x " << t.columns << ", " << t.tokens
       << " query tokens that list a key block\n";
  return text.str();
}

std::string to_text(const Tiling& t) {
  return extents_text(t) + to_text(static_cast<const BlockPlan&>(t));
}

}  // namespace assay::optimized::selected
