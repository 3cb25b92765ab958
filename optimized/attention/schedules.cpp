#include "attention/schedules.hpp"

#include <algorithm>

#include "attention/features.hpp"
#include "attention/window.hpp"

namespace assay::optimized {
namespace {

using Problem = spec::AttentionProblem;
using schedules::Direction;
using schedules::Sequences;

/// Returns the features (mask, bias, dropout) of a problem that cost time in every tile. A
/// compressed mask adds no cost: one tile of the mask stays in the unified buffer, and the kernel
/// reads it only at the edges of the window. In the forward, the sink only sets the first maximum
/// of a row.
schedules::Features features_of_tiles(Problem p, Direction direction) {
  if (direction == Direction::forward) p.sink = spec::SinkShape::absent;
  if (is_compressed(p.atten_mask)) p.atten_mask = spec::MaskShape::absent;
  return features_of(p);
}

bool alike(const Sequences& x, const Sequences& y) {
  return x.seq_q == y.seq_q && x.seq_kv == y.seq_kv && x.before == y.before && x.after == y.after &&
         x.prefix == y.prefix;
}

/// Lists the sequences. Adjacent sequences with equal properties share one entry. If the user
/// passes the mask as a tensor, every block counts as computed.
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

constexpr std::int64_t longest_of_basic = 32768, widest_of_basic = 128, shortest_of_same_ab = 1024;

/// Returns nothing if the schedule "basic" supports the problem, else a text that says which
/// problems it supports. The caller checks position bias and dropout.
std::string not_taken_by_basic(const Problem& p) {
  const bool plain = p.sparse_mode == 0 && p.atten_mask == spec::MaskShape::absent;
  const bool causal = (p.sparse_mode == 2 || p.sparse_mode == 3) && is_compressed(p.atten_mask);
  if (p.input_layout != spec::Layout::tnd) return "packed sequences (TND)";
  if (p.dtype == spec::DType::fp32) return "fp16 and bf16";
  if (!plain && !causal)
    return "problems without a mask, or sparse modes 2 and 3 with a compressed mask";
  if (p.head_dim != p.head_dim_v || p.head_dim > widest_of_basic || p.head_dim % 16 != 0)
    return "problems with equal head sizes that are multiples of 16 up to 128";
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) != p.length_kv(b) || p.length_q(b) > longest_of_basic)
      return "sequences with equal numbers of queries and keys, at most 32768 each";
  return {};
}

std::string not_taken_by_same_ab(const Problem& p, bool basic_takes_it) {
  if (p.dtype == spec::DType::fp32) return "fp16 and bf16";
  if (basic_takes_it) return "problems that basic does not support";
  if (p.input_layout != spec::Layout::tnd)
    return std::max(p.seq_q, p.seq_kv) >= shortest_of_same_ab
               ? ""
               : "problems with at least 1024 queries or keys (there are few exceptions)";
  const std::int64_t least = p.batch * shortest_of_same_ab;
  std::int64_t queries = 0, keys = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) queries += p.length_q(b), keys += p.length_kv(b);
  return std::min(queries, keys) >= least
             ? ""
             : "problems with at least 1024 queries and keys per sequence on average";
}

std::map<std::string, std::string> not_taken(const Problem& p, const schedules::Features& tiles) {
  const std::string basic = not_taken_by_basic(p);
  return {{"basic", basic}, {"sameAB", not_taken_by_same_ab(p, basic.empty() && !tiles.any())}};
}

}  // namespace

std::variant<schedules::Attention, std::string> attention_of(const Problem& p,
                                                             Direction direction) {
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
                                    .features = features_of_tiles(p, direction),
                                    .direction = direction};
  if (direction == Direction::gradient) attention.not_taken = not_taken(p, attention.features);
  if (attention.blocks() == 0) return "no query sees a key";
  return attention;
}

}  // namespace assay::optimized
