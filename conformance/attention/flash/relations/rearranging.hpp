#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "attention/flash/relations/parts.hpp"

/// Relations (comparisons between runs) that permute rows and keys, or split the call.
namespace assay::conformance::attention::flash {

using spec::RowPosition;

/// Applies an irregular permutation of [0, extent): (7 s + 3) mod extent, or extent - 1 - s if 7
/// divides the extent.
inline std::int64_t permuted(std::int64_t s, std::int64_t extent) {
  return extent % 7 == 0 ? extent - 1 - s : (7 * s + 3) % extent;
}

/// Returns whether two sequences can be exchanged without a change of mask and bias. In TND all
/// sequences share a mask, so they must have equal lengths.
inline bool is_freely_masked(const Problem& p) {
  const bool unbounded = std::min(p.pre_tokens, p.next_tokens) >= std::max(p.seq_q, p.seq_kv);
  const bool free =
      p.atten_mask == spec::MaskShape::absent ||
      (has_user_mask(p) && (p.sparse_mode == 1 || (p.sparse_mode == 0 && unbounded)) &&
       has_equal_lengths(p));
  return free && (p.pse_shift == spec::PseShape::absent || has_written_bias(p));
}

template <class Op>
conformance::Experiment<Op> permute_keys(const conformance::Trial<Op>& base) {
  const Origin key = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.length_kv(row.b))};
  };
  return rearranging<Op>(base, {{base.problem, {same_row, key}}});
}

template <class Op>
conformance::Experiment<Op> permute_queries(const conformance::Trial<Op>& base) {
  const Origin query = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.length_q(row.b))};
  };
  return rearranging<Op>(base, {{base.problem, {query, same_row}}});
}

/// Returns the problem that contains only sequence b. In modes 7 and 8 the sequence with the band
/// gets mode 4; every other sequence gets mode 3 (instead of 7) or 2 (instead of 8). In mode 8 only
/// the first sequence keeps the start indices.
inline Problem alone(const Problem& p, std::int64_t b) {
  Problem one = p;
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

/// Returns whether the layout is padded and the bias can be moved. Returns false for a case with a
/// sink: its gradient is a sum over the batch, and the kernel chooses the order of this sum.
inline bool is_padded_with_movable_bias(const Problem& p) {
  return !is_packed(p) && has_movable_bias(p) && !p.has_sink();
}
inline bool is_packed_with_movable_bias(const Problem& p) {
  return is_packed(p) && has_movable_bias(p);
}

template <class Op>
conformance::Experiment<Op> split_batch(const conformance::Trial<Op>& base) {
  std::vector<conformance::Piece<Op>> pieces;
  for (std::int64_t b = 0; b < base.problem.batch; ++b) {
    const Origin origin = [b](const RowPosition& row) { return RowPosition{b, row.n, row.s}; };
    pieces.push_back({alone(base.problem, b), {origin, origin}});
  }
  return rearranging<Op>(base, std::move(pieces));
}

inline constexpr std::int64_t queries_in_front = 7;

inline bool is_cuttable(const Problem& p) {
  if (!is_packed(p) || p.batch != 2 || p.lengths_q.empty() || p.lengths_kv.empty()) return false;
  if (p.sparse_mode != 2 && p.sparse_mode != 3) return false;
  return p.pse_shift == spec::PseShape::absent && p.atten_mask == spec::MaskShape::compressed &&
         std::ranges::min(p.lengths_q) > queries_in_front && std::ranges::min(p.lengths_kv) > 0;
}

/// Splits the queries of one sequence into two calls. The dq of the whole sequence is the
/// concatenation of both dq. Both calls read all keys of the sequence, so dk (and dv) of the whole
/// sequence is the sum of both results.
template <class Op>
conformance::Experiment<Op> cut_queries(const conformance::Trial<Op>& base) {
  const Problem& p = base.problem;
  const bool cuts_last = p.sparse_mode == 3;
  const std::int64_t cut = cuts_last ? 1 : 0;
  const std::int64_t whole = p.length_q(cut), keys = p.length_kv(cut);
  // One of the two calls also contains the unsplit sequences. It gets mode 7 (instead of 3) or 8
  // (instead of 2), with a band for the split sequence.
  const std::int64_t with_other = cuts_last ? queries_in_front : whole - queries_in_front;
  Problem large = p, small = p;
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
  return rearranging<Op>(base, {{large, {of_large, same_row}},
                                {small, {after(cuts_last ? queries_in_front : 0), after(0)}}});
}

template <class Op>
std::span<const conformance::Relation<Op>> rearranging_relations() {
  static constexpr RearrangingSentences sentences = Traits<Op>::sentences;
  static constexpr conformance::Relation<Op> relations[] = {
      {"permute_keys", sentences.permute_keys, Agreement::bound, is_freely_masked,
       "calls whose mask and bias are full tensors or absent", permute_keys<Op>},
      {"permute_queries", sentences.permute_queries, Agreement::bound, is_freely_masked,
       "calls whose mask and bias are full tensors or absent", permute_queries<Op>},
      {"split_batch", sentences.split_batch, Agreement::bits, is_padded_with_movable_bias,
       "padded layouts without a compressed bias or a sink", split_batch<Op>},
      {"split_heads", sentences.split_heads, Agreement::bits, has_movable_bias,
       "calls without a compressed bias", split_heads<Op>},
      {"sequences_alone", sentences.sequences_alone, Agreement::bound, is_packed_with_movable_bias,
       "TND without a compressed bias", split_batch<Op>},
      {"repeat_heads", sentences.repeat_heads, Agreement::bound, has_movable_bias,
       "calls without a compressed bias", repeat_heads<Op>},
      {"cut_queries", sentences.cut_queries, Agreement::bound, is_cuttable,
       "two sequences of TND in mode 2 or 3 with more than 7 queries each, without slopes",
       cut_queries<Op>}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
