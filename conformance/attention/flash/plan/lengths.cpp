#include "case/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "attention/flash/plan/draws.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;

/// Returns the largest length L for which a problem with L queries and L keys needs at most
/// `budget` multiply-adds, including the judge's own work.
std::int64_t longest(const Problem& p, double budget) {
  constexpr std::int64_t pair_cost = 48;
  const double each = static_cast<double>(p.batch * p.heads_q * (p.head_dim + pair_cost));
  return std::max<std::int64_t>(8, static_cast<std::int64_t>(std::sqrt(budget / each)));
}

/// A condition on the lengths of every sequence. The chosen factor values (properties of the case)
/// decide which condition applies.
enum class Shape : std::uint8_t { any, square, no_longer_q };

Shape shape_of(const Categories& k) {
  const bool compressed =
      k.pse_shape == spec::PseShape::bnhs || k.pse_shape == spec::PseShape::one_nhs;
  const bool sloped = k.pse == Pse::type_2 || k.pse == Pse::type_3;
  if (compressed || (k.sparse_mode == 8 && k.pse != Pse::absent) || (k.limits_lengths && sloped))
    return Shape::square;
  const bool needs_keys = k.sparse_mode == 7 || (k.limits_lengths && k.sparse_mode == 3);
  return needs_keys ? Shape::no_longer_q : Shape::any;
}

std::int64_t key_length(std::int64_t seq_q, Shape shape, std::int64_t limit, Draws& draws) {
  if (shape == Shape::square) return seq_q;
  if (shape == Shape::no_longer_q) return seq_q + draws.integer(0, limit / 2);
  return draws.length(limit);
}

void draw_uniform(Problem& p, LengthsKind lengths, std::int64_t limit, Draws& draws) {
  constexpr std::int64_t longest_alone = 700;
  const std::int64_t alone = std::min(limit * limit, longest_alone);
  const std::int64_t some = draws.length(limit);
  p.seq_q = p.seq_kv = some;
  if (lengths == LengthsKind::shorter_q) p.seq_kv = some + draws.integer(1, limit);
  if (lengths == LengthsKind::longer_q) p.seq_q = some + draws.integer(1, limit);
  if (lengths == LengthsKind::one_query) p.seq_q = 1, p.seq_kv = draws.length(alone);
  if (lengths == LengthsKind::one_key) p.seq_q = draws.length(alone), p.seq_kv = 1;
  if (lengths == LengthsKind::empty_q || lengths == LengthsKind::empty_both) p.seq_q = 0;
  if (lengths == LengthsKind::empty_kv || lengths == LengthsKind::empty_both) p.seq_kv = 0;
}

/// Sets the lengths of some random sequences to 0, if the length class has empty sequences.
void clear_some(Problem& p, LengthsKind lengths, Shape shape, Draws& draws) {
  const auto at = static_cast<std::size_t>(draws.integer(0, p.batch - 1));
  const auto other = (at + 1) % static_cast<std::size_t>(p.batch);
  if (lengths == LengthsKind::empty_q) p.lengths_q[at] = 0;
  if (lengths == LengthsKind::empty_kv) p.lengths_kv[at] = 0;
  if (lengths != LengthsKind::empty_both) return;
  p.lengths_kv[at] = 0;
  // If no sequence may have fewer keys than queries, a sequence without keys must also have no
  // queries.
  if (shape == Shape::no_longer_q || draws.integer(0, 1) == 0) p.lengths_q[at] = 0;
  p.lengths_q[other] = 0;
}

void draw_packed(Problem& p, const Categories& k, std::int64_t limit, Draws& draws) {
  const Shape shape = k.lengths == LengthsKind::paired ? Shape::square : shape_of(k);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    p.lengths_q.push_back(draws.length(limit));
    p.lengths_kv.push_back(key_length(p.lengths_q.back(), shape, limit, draws));
  }
  if (k.lengths == LengthsKind::paired && p.lengths_q[0] == p.lengths_q[1])
    p.lengths_kv[0] = ++p.lengths_q[0];
  if (k.lengths == LengthsKind::unequal) {
    p.lengths_kv[0] = p.lengths_q[0] + draws.integer(1, limit);
    if (p.lengths_kv[0] == p.lengths_kv[1]) ++p.lengths_kv[0];
  }
  clear_some(p, k.lengths, shape, draws);
}

std::int64_t batch_of(const Categories& k, Draws& draws) {
  switch (k.lengths) {
    case LengthsKind::single:
      return 1;
    case LengthsKind::many:
      return draws.integer(16, 40);
    case LengthsKind::empty_q:
    case LengthsKind::empty_kv:
    case LengthsKind::empty_both:
      return draws.one_of<std::int64_t>({3, 4, 5, draws.integer(6, 15)});
    default:
      break;
  }
  // The mask shapes in this condition need 4 MiB for every sequence, so the batch is small.
  if (k.mask == spec::MaskShape::compressed_b_one_ss || k.mask == spec::MaskShape::compressed_bnss)
    return is_packed(k.layout) ? 2 : draws.one_of({1, 2, 2});
  if (is_packed(k.layout)) return draws.one_of<std::int64_t>({2, 3, 4, draws.integer(5, 15)});
  const bool one_mask = k.mask == spec::MaskShape::ss || k.mask == spec::MaskShape::one_one_ss;
  // In sparse mode 5 the mask contains the prefix. A mask that all sequences share can contain only
  // one prefix.
  if (k.sparse_mode == 5 && one_mask) return 1;
  // With one sequence and one key, a one-dimensional bias would have the same shape as slopes.
  const bool one_axis =
      k.pse_shape == spec::PseShape::packed_bn1s || k.pse_shape == spec::PseShape::packed_bnss;
  const std::int64_t least = one_axis || k.mask == spec::MaskShape::b_one_ss ? 2 : 1;
  return draws.one_of<std::int64_t>({least, least, 2, draws.integer(3, 12)});
}

/// Returns the shortest length among the sequences that have queries and keys.
std::int64_t shortest(const Problem& p) {
  std::int64_t least = std::max(p.seq_q, p.seq_kv);
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) > 0 && p.length_kv(b) > 0)
      least = std::min({least, p.length_q(b), p.length_kv(b)});
  return least;
}

/// Returns the sequence to which the band of modes 7 and 8 applies: the last (mode 7) or first
/// (mode 8) sequence with queries.
std::int64_t band_sequence(const Problem& p) {
  std::int64_t found = 0;
  for (std::int64_t b = p.batch - 1; b >= 0; --b) {
    if (p.length_q(b) == 0) continue;
    found = b;
    if (p.sparse_mode == 7) break;
  }
  return found;
}

/// For the sequence with the band, the documents require pre >= Skv and next >= Sq - Skv; in mode 7
/// also next <= 0.
void draw_split_window(Problem& p, WindowKind window, Draws& draws) {
  const std::int64_t b = band_sequence(p), seq_q = p.length_q(b), seq_kv = p.length_kv(b);
  const std::int64_t least = seq_q - seq_kv;
  if (window == WindowKind::unbounded) return;
  p.pre_tokens = seq_kv + draws.integer(0, 3);
  const std::int64_t most = p.sparse_mode == 7 ? 0 : std::max<std::int64_t>(least, 0) + 4;
  p.next_tokens =
      window == WindowKind::causal ? std::max<std::int64_t>(least, 0) : draws.integer(least, most);
}

}  // namespace

void draw_lengths(Problem& p, const Categories& k, double budget, Draws& draws) {
  constexpr std::int64_t longest_of_many = 9;
  p.batch = batch_of(k, draws);
  std::int64_t limit = longest(p, budget);
  if (k.lengths <= LengthsKind::one_key || !is_packed(k.layout))
    return draw_uniform(p, k.lengths, limit, draws);
  if (k.lengths == LengthsKind::many) limit = std::min(limit, longest_of_many);
  draw_packed(p, k, limit, draws);
  settle_longest(p.lengths_q, p.seq_q);
  settle_longest(p.lengths_kv, p.seq_kv);
}

void draw_window(Problem& p, WindowKind window, Draws& draws) {
  const bool masked = p.atten_mask != spec::MaskShape::absent;
  if (p.sparse_mode >= 7 && masked) return draw_split_window(p, window, draws);
  const std::int64_t shorter = shortest(p);
  const std::int64_t inside = draws.edge(1, shorter / 4);
  // Chooses a random left edge of a band. The band is so narrow that at least the last queries do
  // not see all keys.
  const std::int64_t left = draws.edge(1, std::max<std::int64_t>(shorter - 1, 1));
  switch (window) {
    case WindowKind::unbounded:
      break;
    case WindowKind::causal:
      p.pre_tokens = p.sparse_mode == 4 ? left : std::max(p.seq_q, p.seq_kv);
      p.next_tokens = 0;
      break;
    case WindowKind::band:
      p.pre_tokens = draws.edge(0, shorter / 2);
      p.next_tokens = draws.edge(0, shorter / 3);
      break;
    case WindowKind::negative_next:
      p.next_tokens = -inside;
      if (p.sparse_mode == 4) p.pre_tokens = inside + left;
      break;
    case WindowKind::negative_pre:
      p.pre_tokens = -inside;
      break;
    case WindowKind::ignored:
      p.pre_tokens = draws.integer(-3, 3);
      p.next_tokens = draws.integer(-3, 3);
      break;
  }
}

}  // namespace assay::conformance::attention::flash
