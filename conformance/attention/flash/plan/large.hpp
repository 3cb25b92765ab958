#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/flash/relations/parts.hpp"
#include "attention/flash/traits.hpp"
#include "attention/plan/choices.hpp"
#include "case/lengths.hpp"
#include "plan/draws.hpp"

/// Generates cases that need more work than a randomly drawn case may have: windows next to tile
/// edges, long sequences, and numbers of tokens, dropout bits and scores that overflow narrow index
/// types. Most are exact cases (compared bit by bit): each row attends to few keys, so that all
/// rows can be judged even in long sequences.
namespace assay::conformance::attention::flash {

inline constexpr std::array padded_layouts = {spec::Layout::bsh, spec::Layout::sbh,
                                              spec::Layout::bsnd, spec::Layout::bnsd};
inline constexpr std::array all_dtypes = {spec::DType::fp16, spec::DType::bf16, spec::DType::fp32};

inline void set_compressed(Problem& p, std::int64_t sparse_mode) {
  p.sparse_mode = sparse_mode;
  p.atten_mask = spec::MaskShape::compressed;
}

inline void set_dropout(Problem& p, Draws& draws) {
  p.keep_prob = draws.one_of({0.5, 0.25});
  p.drop_mask = draws.one_of({spec::DropMask::exact, spec::DropMask::granules});
}

/// Collects large cases. Each case has its own random stream; fp16, bf16 and fp32 alternate.
template <class Op>
class LargeCases {
 public:
  explicit LargeCases(std::uint64_t seed) : lots_(stream(seed, Stream::sampling).bits(3)) {}

  /// Adds a case. The function `draw` changes a problem with one short sequence. Four of five cases
  /// have a padded layout, the fifth has TND.
  template <class Draw>
  void add(const std::string& note, Track track, Draw&& draw) {
    const std::size_t turn = cases_.size();
    Draws draws(lots_ + turn);
    Case<Op> c{.track = track, .note = note};
    c.problem = {.dtype = all_dtypes[turn % all_dtypes.size()], .head_dim = 16, .head_dim_v = 16};
    if (turn % 5 == 4) {
      c.problem.input_layout = spec::Layout::tnd;
      c.entry_point = draws.one_of(Traits<Op>::packed_choices);
    } else {
      c.problem.input_layout = padded_layouts[turn % 5];
      c.entry_point = draws.one_of({Traits<Op>::dense, Traits<Op>::dense_typed});
    }
    draw(c, draws);
    c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
    if (track == Track::exact || track == Track::exact_staged)
      c.problem.scale_value = exact_case_scale(c.problem, c.seed);
    cases_.push_back(std::move(c));
  }
  std::vector<Case<Op>> take() { return std::move(cases_); }

 private:
  std::uint64_t lots_;
  std::vector<Case<Op>> cases_;
};

enum class Edge : std::uint8_t { pre, next, prefix };

/// Sets a random window or prefix with its edge at `end`, a number close to a multiple of a tile
/// size. The sequences are longer than `end`.
template <class Op>
void draw_edge(Case<Op>& c, Edge edge, std::int64_t end, Draws& draws) {
  Problem& p = c.problem;
  const bool packed = is_packed(p.input_layout);
  p.heads_q = draws.integer(1, 2);
  p.head_dim = p.head_dim_v = 8 * draws.integer(2, 6);
  // Query and key counts exceed `end`, so that the window ends inside many rows.
  p.seq_q = end + draws.integer(16, 100);
  p.seq_kv = end + draws.integer(16, 100);
  if (edge == Edge::prefix) {
    set_compressed(p, 6);
    // The end of a prefix has an effect only in rows whose causal diagonal is left of this end.
    p.seq_q = draws.integer(end / 2 + 2, end + 60);
    p.seq_kv = end + draws.integer(1, std::max<std::int64_t>(1, p.seq_q / 2));
    p.prefix = {end};
    return;
  }
  if (packed || draws.integer(0, 1) == 0) {
    set_compressed(p, 4);
  } else {
    p.atten_mask = spec::MaskShape::ss;
    c.patterns.mask = "open";
  }
  const std::int64_t other = draws.integer(1, end);
  (edge == Edge::pre ? p.pre_tokens : p.next_tokens) = end;
  (edge == Edge::pre ? p.next_tokens : p.pre_tokens) = other;
}

/// Makes a problem with a common configuration and random lengths: grouped heads with several key
/// heads, a causal mask, head size 128.
template <class Op>
void draw_usual(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  p.heads_kv = draws.integer(2, 3);
  p.heads_q = p.heads_kv * draws.integer(2, 4);
  p.head_dim = p.head_dim_v = 128;
  p.seq_q = draws.edge(512, 770);
  p.seq_kv = p.seq_q + draws.integer(0, 1) * draws.integer(1, 200);
  set_compressed(p, draws.one_of({2, 3}));
}

/// Makes a random problem in which up to 16 query heads share one key head, without a mask. The
/// head size is 128 or 160.
template <class Op>
void draw_unmasked_group(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  p.heads_q = draws.integer(2, 16);
  p.head_dim = draws.one_of({128, 128, 160});
  p.head_dim_v = 128;
  if (has_softmax_in_layout(c.entry_point))  // softmaxInLayout requires Dv = D
    c.entry_point = Traits<Op>::packed_typed;
  p.seq_q = draws.edge(512, 550), p.seq_kv = draws.edge(512, 550);
}

/// Makes a random problem with many heads in several sequences, so that dropout bits of different
/// heads are far apart.
template <class Op>
void draw_dropped_heads(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  p.batch = draws.integer(2, 3);
  p.heads_kv = draws.one_of({1, 2, 4, 8});
  p.heads_q = 8;
  p.seq_q = draws.edge(256, 300), p.seq_kv = draws.edge(200, 300);
  set_dropout(p, draws);
}

/// Makes a random problem with a rope of 64 channels, many heads, and long sequences. Each query
/// attends to few keys.
template <class Op>
void draw_long_rope(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  c.entry_point = Traits<Op>::roped;
  p = {.input_layout = spec::Layout::tnd,
       .dtype = spec::DType::bf16,
       .head_dim = 64,
       .head_dim_v = 64};
  p.head_dim_rope = 64;
  p.atten_mask = spec::MaskShape::ss;  // u3 requires a mask
  p.heads_q = 16;
  p.heads_kv = draws.one_of({1, 2, 16});
  const std::int64_t longest = draws.edge(1024, 1100), keys = draws.integer(33, 90);
  set_lengths(p, {longest, draws.integer(1, 9)}, {keys, draws.integer(9, 40)});
}

/// Makes a random problem with a value tensor that is narrower than the key, in layout BSH and
/// fp32, with the mask of sparse mode 3.
template <class Op>
void draw_narrow_value(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  c.entry_point = Traits<Op>::dense;
  p.input_layout = spec::Layout::bsh;
  p.dtype = spec::DType::fp32;
  p.heads_kv = 2, p.heads_q = 4;
  p.head_dim = 8 * draws.integer(4, 9), p.head_dim_v = draws.integer(9, p.head_dim - 1);
  p.seq_q = draws.length(70), p.seq_kv = p.seq_q + draws.integer(0, 30);
  set_compressed(p, 3);
}

/// Makes a random problem with more queries than keys and the mask of sparse mode 2: four
/// sequences, grouped heads, dropout.
template <class Op>
void draw_longer_queries(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  p.batch = 4;
  p.heads_kv = draws.integer(1, 2);
  p.heads_q = p.heads_kv * draws.integer(2, 4);
  p.seq_kv = draws.length(70), p.seq_q = p.seq_kv + draws.integer(1, 60);
  set_compressed(p, 2);
  set_dropout(p, draws);
}

/// Makes a random problem with more tokens than a 16-bit index can count: per sequence in packed
/// layouts, per batch in padded ones.
template <class Op>
void draw_tokens(Case<Op>& c, Draws& draws) {
  constexpr std::int64_t beyond = 65'536;
  Problem& p = c.problem;
  p.head_dim = p.head_dim_v = 8;
  p.batch = draws.integer(1'200, 2'000);
  p.seq_q = beyond / p.batch + draws.integer(1, 3);
  p.seq_kv = p.seq_q + draws.integer(0, 3);
}

/// Chooses lengths so that all heads together have 9/8 `scores` scores (query-key pairs), with
/// about equal numbers of queries and keys. The extra eighth gives many rows above the limit. One
/// such row would test little, because each row attends to few keys.
inline void set_scores(Problem& p, std::int64_t scores, Draws& draws) {
  p.heads_q = draws.integer(2, 4);
  p.seq_q = 64;
  while (p.heads_q * p.seq_q * p.seq_q <= scores + scores / 8) ++p.seq_q;
  p.seq_kv = p.seq_q + draws.integer(0, 40);
}

/// Makes a random problem with head size 128 for the key. The head size of the value is not a
/// multiple of 16.
template <class Op>
void draw_misaligned(Case<Op>& c, Draws& draws) {
  Problem& p = c.problem;
  if (has_softmax_in_layout(c.entry_point))  // softmaxInLayout requires Dv = D
    c.entry_point = Traits<Op>::packed_typed;
  p.heads_kv = draws.integer(1, 2);
  p.heads_q = p.heads_kv * draws.integer(1, 3);
  p.head_dim = 128;
  p.head_dim_v = 16 * draws.integer(1, 7) + draws.integer(1, 15);
  p.scale_value = attention::ordinary_scale(p.head_dim);
  p.seq_q = draws.length(150), p.seq_kv = draws.length(150);
}

/// Returns exact cases (compared bit by bit) in which a window or prefix ends at a multiple of a
/// tile size, or next to one. Every tile size occurs.
template <class Op>
std::vector<Case<Op>> edge_cases(std::uint64_t seed) {
  LargeCases<Op> cases(seed);
  for (int size = 0; size < tile_sizes; ++size)
    for (const std::int64_t offset : {-1, 0, 1})
      for (const Edge edge : {Edge::pre, Edge::next, Edge::prefix})
        cases.add(
            "a window or prefix next to a tile edge", Track::exact, [&](Case<Op>& c, Draws& draws) {
              constexpr std::int64_t reach = 600;
              const std::int64_t tile = least_tile << size;
              const std::int64_t edges = draws.integer(1, std::max<std::int64_t>(1, reach / tile));
              draw_edge(c, edge, tile * edges + offset, draws);
            });
  return cases.take();
}

/// Returns cases that need more work than a randomly drawn case may have: long grouped heads;
/// counts of tokens, dropout bits and scores that overflow indices of 16, 20 and 24 bits; value
/// head sizes with a partial block; long heads with all rows judged.
template <class Op>
std::vector<Case<Op>> large_cases(std::uint64_t seed) {
  LargeCases<Op> cases(seed + 1);
  for (const Track track :
       {Track::exact, Track::exact, Track::exact, Track::exact, Track::exact_staged})
    cases.add("grouped heads, causal, long, head size 128", track, draw_usual<Op>);
  for (const Track track :
       {Track::exact, Track::exact, Track::exact, Track::bound, Track::bound, Track::bound})
    cases.add("head size 128, a value with an incomplete last block", track, draw_misaligned<Op>);
  for (int turn = 0; turn < 2; ++turn)
    cases.add("token indices that need more than 16 bits", Track::exact, draw_tokens<Op>);
  for (int turn = 0; turn < 2; ++turn)
    cases.add("dropout bits whose indices need more than 20 bits", Track::exact,
              [](Case<Op>& c, Draws& draws) {
                set_scores(c.problem, std::int64_t{1} << 20, draws);
                set_dropout(c.problem, draws);
              });
  cases.add("scores whose indices need more than 24 bits", Track::exact,
            [](Case<Op>& c, Draws& draws) {
              set_scores(c.problem, std::int64_t{1} << 24, draws);
              set_dropout(c.problem, draws);
              if (!is_packed(c.problem.input_layout)) c.problem.atten_mask = spec::MaskShape::bnss;
            });
  for (std::size_t turn = 0; turn < all_dtypes.size(); ++turn)
    cases.add("one head with a long sequence, no mask, every row judged", Track::bound,
              [](Case<Op>& c, Draws& draws) {
                Problem& p = c.problem;
                p.head_dim = p.head_dim_v = 8 * draws.integer(4, 8);
                p.scale_value = attention::ordinary_scale(p.head_dim);
                p.seq_q = draws.edge(1024, 1150), p.seq_kv = draws.edge(1024, 1150);
              });
  for (int turn = 0; turn < 2; ++turn)
    cases.add("grouped heads, long, head size 128", Track::exact, draw_unmasked_group<Op>);
  cases.add("dropout of many heads", Track::exact, draw_dropped_heads<Op>);
  cases.add("rope of many heads and long sequences", Track::exact, draw_long_rope<Op>);
  cases.add("a value narrower than key, in BSH, fp32, mode 3", Track::exact, draw_narrow_value<Op>);
  for (int turn = 0; turn < 3; ++turn)
    cases.add("more queries than keys, mode 2, dropout", Track::exact, draw_longer_queries<Op>);
  return cases.take();
}

/// Returns cases of track relation (comparisons between runs) with 512 to 4096 tokens.
template <class Op>
std::vector<Case<Op>> large_relation_cases(std::uint64_t seed) {
  LargeCases<Op> cases(seed + 2);
  const auto add = [&](std::string_view relation, spec::Layout layout, auto&& draw) {
    cases.add("a relation on long sequences", Track::relation, [&](Case<Op>& c, Draws& draws) {
      Problem& p = c.problem;
      p.input_layout = layout;
      p.scale_value = 0.25;
      p.batch = p.heads_kv = 2;
      draw(p, draws);
      c.entry_point = conformance::RelationParts<Op>::entry_point_of(p);
      c.relation = relation;
    });
  };
  const auto grouped = [](Problem& p, Draws& draws) {
    p.heads_q = 2 * draws.integer(2, 3);
    p.head_dim = p.head_dim_v = 128;
    p.batch = 1;
    p.seq_q = p.seq_kv = draws.edge(512, 1024);
    set_compressed(p, draws.one_of({2, 3}));
  };
  const auto longest = [](Problem& p, Draws& draws) {
    p.heads_q = 2;
    p.seq_q = draws.edge(1024, 2048), p.seq_kv = 4096 - draws.integer(0, 1);
    p.batch = 1;
    set_compressed(p, 3);
  };
  const auto batch = [](Problem& p, Draws& draws) {
    p.heads_q = 2 * draws.integer(1, 2);
    p.seq_q = draws.edge(512, 1024), p.seq_kv = draws.edge(512, 1024);
  };
  const auto packed = [](Problem& p, Draws& draws) {
    p.heads_q = p.heads_kv = 1;
    set_lengths(p, {draws.edge(512, 640), 33}, {draws.edge(512, 640), 70});
    if (is_forward<Op> && p.length_q(0) > p.length_kv(0))
      set_lengths(p, {p.length_q(0), 33}, {p.length_q(0), 70});
    set_compressed(p, 3);
  };
  const auto alone = [](Problem& p, Draws& draws) {
    p.batch = p.heads_q = p.heads_kv = 1;
    p.seq_q = draws.edge(512, 560), p.seq_kv = draws.edge(512, 560);
  };
  add("split_heads", spec::Layout::bsnd, grouped);
  add("split_heads", spec::Layout::bnsd, longest);
  add("split_batch", spec::Layout::sbh, batch);
  add("sequences_alone", spec::Layout::tnd, packed);
  add("permute_keys", spec::Layout::bnsd, alone);
  add("permute_queries", spec::Layout::bnsd, alone);
  return cases.take();
}

}  // namespace assay::conformance::attention::flash
