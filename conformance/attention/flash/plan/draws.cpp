#include "attention/flash/plan/draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;

/// Chooses a small random number of heads, because each head of each sequence needs a mask of 4
/// MiB.
void draw_few_heads(Problem& p, Group group, Draws& draws) {
  p.heads_kv = group == Group::one ? draws.one_of({1, 2}) : group == Group::some ? 2 : 1;
  p.heads_q = group == Group::one ? p.heads_kv : 2 * p.heads_kv;
}

/// Chooses random head counts, most of them small. With many heads, the work limit of a case allows
/// only short sequences.
void draw_heads(Problem& p, Group group, Draws& draws) {
  constexpr std::int64_t most_heads = 24, most_of_a_group = 16;
  if (p.atten_mask == spec::MaskShape::compressed_bnss) return draw_few_heads(p, group, draws);
  switch (group) {
    case Group::one:
      p.heads_q = p.heads_kv = draws.one_of<std::int64_t>({1, 2, 3, draws.integer(4, 9)});
      break;
    case Group::some:
      p.heads_kv = draws.one_of<std::int64_t>({2, 2, 3, draws.integer(4, 6)});
      p.heads_q = p.heads_kv *
                  draws.one_of<std::int64_t>({2, 3, draws.integer(4, most_heads / p.heads_kv)});
      break;
    case Group::all:
      p.heads_kv = 1;
      p.heads_q = draws.one_of<std::int64_t>({2, 3, draws.integer(4, most_of_a_group)});
      break;
  }
}

std::int64_t draw_head_dim(const Categories& k, bool rope, Draws& draws) {
  switch (k.head_dim) {
    case HeadDim::small:
      if (rope) return 8;
      // With one channel, a case cannot be exact, and a value tensor cannot be narrower than the
      // key.
      return draws.integer(k.track != Track::bound ? 8 : k.narrow_value ? 2 : 1, 15);
    case HeadDim::odd:
      return 8 * draws.integer(2, 15) + draws.integer(1, 7);
    case HeadDim::eights:
      return 16 * draws.integer(1, 7) + 8;
    case HeadDim::tiles:
      return 16 * draws.integer(1, 8);
    case HeadDim::wide:
      return draws.one_of(
          {16 * draws.integer(9, 32), rope ? 8 * draws.integer(17, 64) : draws.integer(129, 512)});
    case HeadDim::widest:
      return rope ? 8 * draws.integer(65, 96) : draws.integer(513, 768);
  }
  return 16;
}

void draw_dims(Problem& p, const Categories& k, bool rope, Draws& draws) {
  p.head_dim = p.head_dim_v = draw_head_dim(k, rope, draws);
  const std::int64_t step = rope ? 8 : 1;
  if (k.narrow_value && p.head_dim > step) {
    const std::int64_t third = (2 * p.head_dim + 2) / 3;
    p.head_dim_v = draws.one_of({1, 2}) == 1 ? draws.integer(1, p.head_dim - 1) : third;
    p.head_dim_v = std::max(step, p.head_dim_v / step * step);
  }
  const std::int64_t half = std::max<std::int64_t>(8, p.head_dim / 16 * 8);
  if (k.rope == Rope::eight) p.head_dim_rope = 8;
  if (k.rope == Rope::part) p.head_dim_rope = p.head_dim >= 64 ? 64 : half;
  if (k.rope == Rope::whole) p.head_dim_rope = p.head_dim;
}

void draw_dropout(Problem& p, const Categories& k, Draws& draws) {
  p.drop_mask = k.dropout == Dropout::exact      ? spec::DropMask::exact
                : k.dropout == Dropout::granules ? spec::DropMask::granules
                                                 : spec::DropMask::absent;
  switch (k.keep) {
    case Keep::one:
      break;
    case Keep::one_with_mask:
      p.drop_mask = draws.one_of({spec::DropMask::exact, spec::DropMask::granules});
      break;
    case Keep::half:
      p.keep_prob = 0.5;
      break;
    case Keep::most:
      p.keep_prob = static_cast<double>(0.9f);
      break;
    case Keep::tiny:
      p.keep_prob = 0.0625;
      break;
  }
}

void draw_pse(Problem& p, const Categories& k, Draws& draws) {
  p.pse_shift = k.pse_shape;
  if (k.pse != Pse::absent) p.pse_type = static_cast<std::int64_t>(k.pse) - 1;
  // Avoids start indices that equal the length difference, because they would not represent the
  // general case.
  const std::int64_t difference = std::abs(p.length_kv(0) - p.length_q(0));
  const auto other = [&](std::int64_t index) { return index == difference ? index + 1 : index; };
  const std::int64_t start = other(draws.integer(1, 40)), ahead = other(draws.integer(1, 30));
  switch (k.start) {
    case Start::absent:
      break;
    case Start::equal:
      p.q_start_idx = p.kv_start_idx = {start};
      break;
    case Start::query_ahead:
      p.q_start_idx = {start + ahead}, p.kv_start_idx = {start};
      break;
    case Start::key_ahead:
      p.q_start_idx = {start}, p.kv_start_idx = {start + ahead};
      break;
    case Start::query_alone:
      p.q_start_idx = {start};
      break;
  }
}

void draw_prefix(Problem& p, Prefix prefix, Draws& draws) {
  if (prefix == Prefix::absent) return;
  if (prefix == Prefix::ignored) {
    p.prefix = {0};
    return;
  }
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t all = p.length_kv(b), least = std::max<std::int64_t>(0, all - p.length_q(b));
    p.prefix.push_back(prefix == Prefix::least ? least
                       : prefix == Prefix::all ? all
                                               : draws.edge(least, all));
  }
}

}  // namespace

Problem draw_problem(const Categories& k, bool rope, double budget, Draws& draws) {
  Problem p = {.input_layout = k.layout,
               .dtype = k.dtype,
               .sparse_mode = k.sparse_mode,
               .atten_mask = k.mask,
               .mask_dtype = k.mask_dtype,
               .softmax_in_layout = k.in_layout,
               .statistics_order = k.statistics};
  draw_heads(p, k.group, draws);
  draw_dims(p, k, rope, draws);
  draw_lengths(p, k, budget, draws);
  draw_window(p, k.window, draws);
  draw_prefix(p, k.prefix, draws);
  draw_dropout(p, k, draws);
  draw_pse(p, k, draws);
  return p;
}

double multiply_adds(const Problem& p) {
  return static_cast<double>(score_count(p)) * static_cast<double>(p.head_dim);
}

bool may_mask_every_pair(const Problem& p) {
  constexpr std::int64_t few = 4096;
  return !is_compressed(p.atten_mask) && p.seq_q * p.seq_kv <= few;
}

bool keeps_a_pair(const Problem& p, const spec::Tensor* mask) {
  if (!may_mask_every_pair(p) || mask == nullptr) return true;
  return std::ranges::any_of(viewed_elements(*mask),
                             [&](std::int64_t element) { return mask->load(element) == 0; });
}

}  // namespace assay::conformance::attention::flash
