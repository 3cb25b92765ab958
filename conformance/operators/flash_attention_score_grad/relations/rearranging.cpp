#include <algorithm>

#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;
using spec::RowPosition;

/// A permutation without fixed rhythm: s -> (7 s + 3) mod extent, for extents that 7 does not
/// divide, else s -> -1 - s.
std::int64_t permuted(std::int64_t s, std::int64_t extent) {
  return extent % 7 == 0 ? extent - 1 - s : (7 * s + 3) % extent;
}

/// A mask of TND is shared by sequences, so that they must be equally long to take their rows
/// elsewhere.
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

/// The problem of sequence b alone. In modes 7 and 8 its band sequence is in mode 4, the others are
/// in 3 and 2; of the sequences of mode 8 the first alone has start indices.
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

/// dq of the pieces is concatenated, dk and dv of a sequence that both pieces see are added.
Experiment cut_queries(const Trial& base) {
  const Op::Problem& p = base.problem;
  const bool cuts_last = p.sparse_mode == 3;
  const std::int64_t cut = cuts_last ? 1 : 0;
  const std::int64_t whole = p.length_q(cut), keys = p.length_kv(cut);
  // The piece that also holds the other sequence comes in mode 7 (8), with a band for the cut one.
  const std::int64_t with_other = cuts_last ? queries_in_front : whole - queries_in_front;
  Op::Problem large = p, small = p;
  large.lengths_q[static_cast<std::size_t>(cut)] = with_other;
  large.seq_q = std::ranges::max(large.lengths_q);
  large.sparse_mode = cuts_last ? 7 : 8;
  large.pre_tokens = keys;
  large.next_tokens = cuts_last ? with_other - whole : whole - keys;
  small.batch = 1, small.lengths_q.clear(), small.lengths_kv.clear();
  small.seq_q = whole - with_other, small.seq_kv = keys;
  const auto behind = [cut](std::int64_t skipped) -> Origin {
    return [cut, skipped](const RowPosition& row) {
      return RowPosition{cut, row.n, row.s + skipped};
    };
  };
  const Origin of_cut = behind(cuts_last ? 0 : queries_in_front);
  const Origin of_large = [cut, of_cut](const RowPosition& row) {
    return row.b == cut ? of_cut(row) : row;
  };
  return rearranging(base, {{large, {of_large, same_row}},
                            {small, {behind(cuts_last ? queries_in_front : 0), behind(0)}}});
}

}  // namespace

std::span<const Relation> rearranging_relations() {
  static constexpr Relation relations[] = {
      {"permute_keys", "Keys that change places take dk and dv with them and leave dq alone.",
       Agreement::bound, is_freely_masked, "masks and biases that are given in full, or none",
       permute_keys},
      {"permute_queries", "Queries that change places take dq with them and leave dk and dv alone.",
       Agreement::bound, is_freely_masked, "masks and biases that are given in full, or none",
       permute_queries},
      {"split_batch", "Batch entries on their own have the gradients that they have together.",
       Agreement::bits, is_padded_with_movable_bias, "padded layouts without a compressed bias",
       split_batch},
      {"split_heads", "Key heads on their own have the gradients that they have together.",
       Agreement::bits, has_movable_bias, "everything but a compressed bias", split_heads<Op>},
      {"sequences_alone",
       "A sequence of TND on its own has the gradients that it has among others.", Agreement::bound,
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
