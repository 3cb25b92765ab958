#include <algorithm>
#include <array>

#include "operators/flash_attention_score_grad/plan/corners.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using List = std::vector<std::int64_t>;

constexpr std::int64_t mebi = 1024 * 1024;
constexpr std::size_t most_sequences = 2048, most_with_prefix = 1024;

List cycle(std::size_t count, const List& pattern) {
  List values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(pattern[k % pattern.size()]);
  return values;
}

void set_tiny_head(Op::Problem& p) {
  p.heads_q = p.heads_kv = 1;
  set_dim(p, 8, 8);
}

void add_numbers_of_sequences(Corners& corners) {
  corners.add_packed("the smallest packed problem", [](FlashCase& c) {
    set_single_head(c.problem, 1, 1);
    set_dim(c.problem, 1, 1);
  });
  corners.add_packed("as many sequences as the pages name", [](FlashCase& c) {
    set_tiny_head(c.problem);
    set_lengths(c.problem, cycle(most_sequences, {2, 1, 3}), cycle(most_sequences, {3, 2}));
  });
  corners.add_packed("as many sequences as a prefix allows", [](FlashCase& c) {
    set_tiny_head(c.problem);
    set_lengths(c.problem, cycle(most_with_prefix, {2, 3}), cycle(most_with_prefix, {3, 4, 2}));
    set_compressed(c.problem, 6);
    for (std::int64_t b = 0; b < c.problem.batch; ++b)
      c.problem.prefix.push_back(
          std::max<std::int64_t>(1, c.problem.length_kv(b) - c.problem.length_q(b)));
  });
  corners.add_packed("2048 sequences of 512 tokens", [](FlashCase& c) {
    c.track = Track::phase1;
    set_tiny_head(c.problem);
    set_lengths(c.problem, cycle(most_sequences, {512}), cycle(most_sequences, {512}));
  });
  for (const auto& [tokens_q, tokens_kv] : {std::pair{mebi, std::int64_t{16}}, {16, mebi}})
    corners.add_packed("the most tokens of one side", [=](FlashCase& c) {
      c.track = Track::phase1;
      set_single_head(c.problem, tokens_q, tokens_kv);
      set_dim(c.problem, 8, 8);
    });
}

void add_head_sizes(Corners& corners) {
  for (const auto surface :
       {spec::FlashSurface::u1, spec::FlashSurface::u2, spec::FlashSurface::u4})
    for (const std::int64_t head_dim : {512, 513, 768})
      corners.add_packed(head_dim == 512 ? "the largest head size that all pages name"
                                         : "a head size that some pages exclude",
                         [=](FlashCase& c) {
                           c.surface = surface;
                           c.problem.softmax_in_layout = spec::StatisticsOrder::packed;
                           c.problem.heads_q = c.problem.heads_kv = 1;
                           set_lengths(c.problem, {20, 9}, {24, 31});
                           set_dim(c.problem, head_dim, head_dim);
                         });
  for (const auto order : {spec::StatisticsOrder::packed, spec::StatisticsOrder::same_as_input})
    for (const auto striding :
         {spec::Striding::contiguous, spec::Striding::padded, spec::Striding::transposed})
      corners.add_packed("memory order of the statistics", [=](FlashCase& c) {
        c.surface = spec::FlashSurface::u4;
        c.problem.softmax_in_layout = order;
        c.inputs = striding;
        set_compressed(c.problem, 3);
      });
}

/// Sequences without queries or keys: the other side's gradients are zero.
void add_empty_sequences(Corners& corners) {
  struct Lengths {
    const char* note;
    List q, kv;
  };
  for (const Lengths& lengths :
       {Lengths{"the first sequence has no query", {0, 24, 30}, {20, 33, 40}},
        {"a sequence in the middle has no query", {24, 0, 30}, {24, 33, 40}},
        {"the last sequence has no query", {24, 30, 0}, {33, 40, 20}},
        {"the first sequence has no key", {20, 24, 30}, {0, 33, 40}},
        {"the last sequence has no key", {24, 30, 20}, {33, 40, 0}},
        {"all sequences but one have no query", {0, 0, 35, 0}, {9, 20, 40, 3}},
        {"all sequences but one have no key", {9, 20, 35, 3}, {0, 0, 40, 0}},
        {"the last sequences are empty", {24, 30, 0, 0}, {33, 40, 0, 0}},
        {"no sequence has a query", {0, 0}, {9, 20}}})
    for (const std::int64_t mode : {0, 3, 6, 8})
      corners.add_packed(lengths.note, [&](FlashCase& c) {
        set_lengths(c.problem, lengths.q, lengths.kv);
        if (mode != 0) set_compressed(c.problem, mode);
        if (mode == 6)
          for (std::size_t b = 0; b < lengths.q.size(); ++b)
            c.problem.prefix.push_back(std::max<std::int64_t>(
                lengths.kv[b] / 2, std::max<std::int64_t>(0, lengths.kv[b] - lengths.q[b])));
        if (mode == 8) c.problem.pre_tokens = 41, c.problem.next_tokens = 30;
      });
}

struct Split {
  const char* note;
  std::int64_t mode;
  List q, kv;
  std::int64_t pre, next;
};

/// Pieces of one causal mask on several devices: the band of one sequence, in and at its documented
/// range.
void add_split_masks(Corners& corners) {
  const std::int64_t unbounded = spec::unbounded_tokens;
  const Split splits[] = {
      {"the example of mode 7", 7, {3, 2}, {3, 6}, 6, -2},
      {"the example of mode 8", 8, {3, 5, 4}, {4, 5, 4}, 4, 1},
      {"the lowest edge of mode 7's band", 7, {21, 30}, {33, 41}, 41, -11},
      {"the upper edge of mode 7's band", 7, {21, 30}, {33, 41}, unbounded, 0},
      {"the lowest edge of mode 8's band", 8, {30, 21}, {41, 33}, 41, -11},
      {"mode 8's band with fewer keys than queries", 8, {41, 21}, {30, 33}, 30, 11},
      {"mode 8's band without an edge", 8, {41, 21}, {30, 33}, unbounded, unbounded},
      {"a band that cuts off early keys in mode 7", 7, {21, 30}, {33, 41}, 41, 0},
      {"the band sequence of mode 7 is followed by empty ones",
       7,
       {21, 30, 0, 0},
       {33, 41, 12, 0},
       44,
       -5},
      {"the band sequence of mode 8 is preceded by empty ones",
       8,
       {0, 0, 30, 21},
       {12, 0, 41, 33},
       43,
       -7},
      {"one sequence, in mode 7", 7, {37}, {52}, 60, -3},
      {"one sequence, in mode 8", 8, {52}, {37}, 40, 20},
  };
  for (const Split& split : splits)
    corners.add_packed(split.note, [&](FlashCase& c) {
      set_lengths(c.problem, split.q, split.kv);
      set_compressed(c.problem, split.mode);
      c.problem.pre_tokens = split.pre;
      c.problem.next_tokens = split.next;
    });
}

void add_windows(Corners& corners) {
  const auto window = [&](std::int64_t mode, std::int64_t pre, std::int64_t next) {
    corners.add_packed("a window of packed sequences", [=](FlashCase& c) {
      c.problem.sparse_mode = mode;
      c.problem.atten_mask = mode == 0 ? spec::MaskShape::one_one_ss : spec::MaskShape::compressed;
      c.patterns.mask = "open";
      c.problem.pre_tokens = pre;
      c.problem.next_tokens = next;
    });
  };
  window(0, 65536, 65536);
  window(0, 48, 0);
  window(0, -5, 40);
  window(4, -4, 40);
  window(4, 40, -4);
  window(4, 0, 1);
  window(4, 1, 0);
  window(4, spec::unbounded_tokens, spec::unbounded_tokens);
  for (const bool single : {true, false})
    corners.add_packed("sparse mode 5 of packed sequences", [=](FlashCase& c) {
      if (single) set_single_head(c.problem, 33, 48);
      c.problem.sparse_mode = 5;
      c.problem.atten_mask = single ? spec::MaskShape::ss : spec::MaskShape::b_one_ss;
      c.problem.prefix = single ? List{20} : List{20, 16, 9};
    });
  corners.add_packed("a prefix that nothing reads", [](FlashCase& c) {
    c.problem.prefix = {0};
    c.problem.pre_tokens = c.problem.next_tokens = 65536;
  });
}

void add_long_sequences(Corners& corners) {
  for (const std::int64_t mode : {2, 3, 4, 6, 7, 8})
    corners.add_packed("a compressed mask for packed sequences beyond 2048", [=](FlashCase& c) {
      c.problem.heads_q = c.problem.heads_kv = 1;
      set_dim(c.problem, 16, 16);
      const bool first = mode == 8;
      set_lengths(c.problem, first ? List{2100, 50} : List{50, 2100},
                  first ? List{2300, 70} : List{70, 2300});
      set_compressed(c.problem, mode);
      if (mode == 4) c.problem.pre_tokens = 900, c.problem.next_tokens = 200;
      if (mode == 6) c.problem.prefix = {60, 2250};
      if (mode >= 7) c.problem.pre_tokens = 2300, c.problem.next_tokens = -150;
      c.rows = rows_of_long_cases;
    });
}

}  // namespace

void add_packed_corners(Corners& corners) {
  add_numbers_of_sequences(corners);
  add_head_sizes(corners);
  add_empty_sequences(corners);
  add_split_masks(corners);
  add_windows(corners);
  add_long_sequences(corners);
}

}  // namespace assay::conformance::flash
