#include "attention/flash/plan/categories.hpp"

#include <algorithm>

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;

/// A case with at least this many sequences has the length class `many`.
constexpr std::int64_t many_sequences = 16;

LengthsKind uniform_lengths_of(std::int64_t seq_q, std::int64_t seq_kv) {
  if (seq_q == 0 || seq_kv == 0)
    return seq_q != 0    ? LengthsKind::empty_kv
           : seq_kv != 0 ? LengthsKind::empty_q
                         : LengthsKind::empty_both;
  if (seq_q == seq_kv) return LengthsKind::equal;
  if (seq_q == 1) return LengthsKind::one_query;
  if (seq_kv == 1) return LengthsKind::one_key;
  return seq_q < seq_kv ? LengthsKind::shorter_q : LengthsKind::longer_q;
}

LengthsKind packed_lengths_of(const Problem& p) {
  bool empty_q = false, empty_kv = false, alike = true, paired = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    empty_q |= p.length_q(b) == 0;
    empty_kv |= p.length_kv(b) == 0;
    alike &= p.length_q(b) == p.length_q(0) && p.length_kv(b) == p.length_kv(0);
    paired &= p.length_q(b) == p.length_kv(b);
  }
  if (empty_q && empty_kv) return LengthsKind::empty_both;
  if (empty_q || empty_kv) return empty_q ? LengthsKind::empty_q : LengthsKind::empty_kv;
  if (p.batch >= many_sequences) return LengthsKind::many;
  if (p.batch == 1) return LengthsKind::single;
  if (alike) return uniform_lengths_of(p.length_q(0), p.length_kv(0));
  return paired ? LengthsKind::paired : LengthsKind::unequal;
}

}  // namespace

Pse pse_of(const Problem& p) {
  if (p.pse_shift == spec::PseShape::absent) return Pse::absent;
  return static_cast<Pse>(static_cast<std::int64_t>(Pse::type_0) + p.pse_type);
}

Dropout dropout_of(const Problem& p) {
  if (!p.has_dropout() || p.drop_mask == spec::DropMask::absent) return Dropout::off;
  return p.drop_mask == spec::DropMask::exact ? Dropout::exact : Dropout::granules;
}

Group group_of(const Problem& p) {
  if (p.heads_q == p.heads_kv) return Group::one;
  return p.heads_kv == 1 ? Group::all : Group::some;
}

HeadDim head_dim_of(const Problem& p) {
  if (p.head_dim > 512) return HeadDim::widest;
  if (p.head_dim > 128) return HeadDim::wide;
  if (p.head_dim < 16) return HeadDim::small;
  if (p.head_dim % 16 == 0) return HeadDim::tiles;
  return p.head_dim % 8 == 0 ? HeadDim::eights : HeadDim::odd;
}

LengthsKind lengths_of(const Problem& p) {
  return is_packed(p.input_layout) ? packed_lengths_of(p) : uniform_lengths_of(p.seq_q, p.seq_kv);
}

bool is_masked(const Categories& k) { return k.mask != spec::MaskShape::absent; }
bool is_packed(const Categories& k) { return is_packed(k.layout); }
bool is_exact(const Categories& k) { return k.track != Track::bound; }
bool is_compressed(spec::PseShape shape) {
  return shape == spec::PseShape::bnhs || shape == spec::PseShape::one_nhs;
}

std::vector<Size> sizes_of(const Problem& p) {
  constexpr std::int64_t of_16_bits = 0xffff, of_20_bits = 0xfffff, of_24_bits = 0xffffff;
  const std::int64_t scores = spec::score_count(p);
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  std::vector<Size> sizes = {{"head_dim", p.head_dim},        {"head_dim_v", p.head_dim_v},
                             {"heads of a group", p.group()}, {"sequences", p.batch},
                             {"tokens", tokens, of_16_bits},  {"scores", scores, of_24_bits}};
  if (p.has_dropout()) sizes.push_back({"bits of dropout", scores, of_20_bits});
  const auto add_end = [&](std::int64_t end) {
    if (end > 0 && end < std::max(p.seq_q, p.seq_kv)) sizes.push_back({"end of a window", end});
  };
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 0 || p.sparse_mode == 4))
    add_end(p.pre_tokens), add_end(p.next_tokens);
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 5 || p.sparse_mode == 6))
    for (const std::int64_t prefix : p.prefix) sizes.push_back({"prefix", prefix});
  return sizes;
}

}  // namespace assay::conformance::attention::flash
