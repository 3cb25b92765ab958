#include <algorithm>

#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;
using spec::RowPosition;

/// An irregular permutation of [0, extent): (7 s + 3) mod extent if 7 does not divide the extent,
/// else extent - 1 - s.
std::int64_t permuted(std::int64_t s, std::int64_t extent) {
  return extent % 7 == 0 ? extent - 1 - s : (7 * s + 3) % extent;
}

/// Returns whether rows can move without a change of mask or bias. In TND the sequences share a
/// mask, so they must have equal lengths.
bool is_freely_masked(const Op::Problem& p) {
  const bool unbounded = std::min(p.pre_tokens, p.next_tokens) >= std::max(p.seq_q, p.seq_kv);
  const bool free =
      p.atten_mask == MaskShape::absent ||
      (has_user_mask(p) && (p.sparse_mode == 1 || (p.sparse_mode == 0 && unbounded)) &&
       has_equal_lengths(p));
  return free && (p.pse_shift == PseShape::absent || has_written_bias(p));
}

Experiment permute_keys(const Trial& base) {
  const Origin key = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.length_kv(row.b))};
  };
  return rearranging(base, {{base.problem, {same_row, key}}});
}

Experiment permute_queries(const Trial& base) {
  const Origin query = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.length_q(row.b))};
  };
  return rearranging(base, {{base.problem, {query, same_row}}});
}

/// Returns the problem of sequence b alone. In modes 7 and 8 the sequence with the band gets mode
/// 4; every other sequence gets mode 3 (instead of 7) or 2 (instead of 8). In mode 8 only the first
/// sequence keeps the start indices.
Op::Problem alone(const Op::Problem& p, std::int64_t b) {
  Op::Problem one = p;
  one.batch = 1;
  one.seq_q = p.length_q(b), one.seq_kv = p.length_kv(b);
  one.lengths_q.clear(), one.lengths_kv.clear();
  if (!p.prefix.empty()) one.prefix = {p.prefix[static_cast<std::size_t>(b)]};
  if (p.sparse_mode < 7) return one;
  if (p.sparse_mode == 8 && b > 0) one.q_start_idx.clear(), one.kv_start_idx.clear();
  std::int64_t first = -1, last = -1;
  for (std::int64_t sequence = 0; sequence < p.batch; ++sequence) {
    if (p.length_q(sequence) == 0) continue;
    if (first < 0) first = sequence;
    last = sequence;
  }
  const bool band = b == (p.sparse_mode == 7 ? last : first);
  one.sparse_mode = band ? 4 : p.sparse_mode == 7 ? 3 : 2;
  return one;
}

bool is_padded_with_movable_bias(const Op::Problem& p) {
  return !is_packed(p) && has_movable_bias(p);
}
bool is_packed_with_movable_bias(const Op::Problem& p) {
  return is_packed(p) && has_movable_bias(p);
}

Experiment split_batch(const Trial& base) {
  std::vector<Piece> pieces;
  for (std::int64_t b = 0; b < base.problem.batch; ++b) {
    const Origin origin = [b](const RowPosition& row) { return RowPosition{b, row.n, row.s}; };
    pieces.push_back({alone(base.problem, b), {origin, origin}});
  }
  return rearranging(base, std::move(pieces));
}

constexpr std::int64_t queries_in_front = 7;

bool is_cuttable(const Op::Problem& p) {
  if (!is_packed(p) || p.batch != 2 || p.lengths_q.empty() || p.lengths_kv.empty()) return false;
  if (p.sparse_mode != 2 && p.sparse_mode != 3) return false;
  return p.pse_shift == PseShape::absent && p.atten_mask == MaskShape::compressed &&
         std::ranges::min(p.lengths_q) > queries_in_front && std::ranges::min(p.lengths_kv) > 0;
}

/// Cuts the queries of one sequence into two calls. The dq of both calls are concatenated. Both
/// calls read the keys of that sequence, so its dk and dv are added.
Experiment cut_queries(const Trial& base) {
  const Op::Problem& p = base.problem;
  const bool cuts_last = p.sparse_mode == 3;
  const std::int64_t cut = cuts_last ? 1 : 0;
  const std::int64_t whole = p.length_q(cut), keys = p.length_kv(cut);
  // The call that also contains the other sequence gets mode 7 (instead of 3) or 8 (instead of 2),
  // with a band for the cut sequence.
  const std::int64_t with_other = cuts_last ? queries_in_front : whole - queries_in_front;
  Op::Problem large = p, small = p;
  large.lengths_q[static_cast<std::size_t>(cut)] = with_other;
  large.seq_q = std::ranges::max(large.lengths_q);
  large.sparse_mode = cuts_last ? 7 : 8;
  large.pre_tokens = keys;
  large.next_tokens = cuts_last ? with_other - whole : whole - keys;
  small.batch = 1, small.lengths_q.clear(), small.lengths_kv.clear();
  small.seq_q = whole - with_other, small.seq_kv = keys;
  const auto after = [cut](std::int64_t skipped) -> Origin {
    return [cut, skipped](const RowPosition& row) {
      return RowPosition{cut, row.n, row.s + skipped};
    };
  };
  const Origin of_cut = after(cuts_last ? 0 : queries_in_front);
  const Origin of_large = [cut, of_cut](const RowPosition& row) {
    return row.b == cut ? of_cut(row) : row;
  };
  return rearranging(base, {{large, {of_large, same_row}},
                            {small, {after(cuts_last ? queries_in_front : 0), after(0)}}});
}

}  // namespace

std::span<const Relation> rearranging_relations() {
  static constexpr Relation relations[] = {
      {"permute_keys", "Permuting keys permutes dk and dv in the same way and does not change dq.",
       Agreement::bound, is_freely_masked, "masks and biases that are given in full, or none",
       permute_keys},
      {"permute_queries",
       "Permuting queries permutes dq in the same way and does not change dk and dv.",
       Agreement::bound, is_freely_masked, "masks and biases that are given in full, or none",
       permute_queries},
      {"split_batch", "Batch entries computed alone have the same gradients as together.",
       Agreement::bits, is_padded_with_movable_bias, "padded layouts without a compressed bias",
       split_batch},
      {"split_heads", "Key heads computed alone have the same gradients as together.",
       Agreement::bits, has_movable_bias, "everything but a compressed bias", split_heads<Op>},
      {"sequences_alone",
       "A sequence of TND computed alone has the same gradients as among others.", Agreement::bound,
       is_packed_with_movable_bias, "TND without a compressed bias", split_batch},
      {"repeat_heads", "Key heads repeated for every query head share dk and dv of the group.",
       Agreement::bound, has_movable_bias, "everything but a compressed bias", repeat_heads<Op>},
      {"cut_queries",
       "A sequence in mode 3 (2) cut into pieces of modes 7 and 3 (2 and 8): dq is concatenated, "
       "dk and dv add.",
       Agreement::bound, is_cuttable,
       "two sequences of TND in mode 2 or 3 with more than 7 queries each, without slopes",
       cut_queries}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
