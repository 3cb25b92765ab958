#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/flash/traits.hpp"
#include "attention/plan/choices.hpp"
#include "case/lengths.hpp"
#include "plan/draws.hpp"
#include "plan/forbidden.hpp"

/// Generates packed sequences of 1, 2 or 3 tokens, and head counts close to a device's number of
/// cores.
namespace assay::conformance::attention::flash {

using Tokens = std::vector<std::int64_t>;

/// Says what is short in all sequences of a batch: the queries, the keys, or both.
enum class ShortSide : std::uint8_t { query, key, both };

inline constexpr std::array types_in_turn = {spec::DType::fp16, spec::DType::bf16,
                                             spec::DType::fp32};

/// Returns `count` random lengths up to `longest`; at least one sequence has this length. If
/// `empty` is true, some lengths are 0.
inline Tokens draw_tokens_of(std::int64_t count, std::int64_t longest, bool empty, Draws& draws) {
  Tokens lengths;
  for (std::int64_t b = 0; b < count; ++b) lengths.push_back(draws.integer(empty ? 0 : 1, longest));
  const auto place = [&](std::int64_t first) {
    return static_cast<std::size_t>(draws.integer(first, count - 1));
  };
  // Never puts the longest sequence first. In half of the cases the first sequence is empty.
  const std::size_t last = place(1);
  if (empty) lengths[draws.integer(0, 1) == 0 ? 0 : place(0)] = 0;
  lengths[last] = longest;
  return lengths;
}

inline void draw_short_mask(Problem& p, Draws& draws) {
  p.sparse_mode = draws.one_of<std::int64_t>({0, 0, 2, 3, 4, 6, 8});
  if (p.sparse_mode == 0) return;
  p.atten_mask = spec::MaskShape::compressed;
  if (p.sparse_mode == 4) p.pre_tokens = draws.integer(1, 3), p.next_tokens = draws.integer(0, 2);
  if (p.sparse_mode == 6) p.prefix = all_lengths(p, &Problem::length_kv);
}

template <class Op>
Case<Op> draw_short(typename Op::EntryPoint entry_point, std::int64_t longest, ShortSide side,
                    Draws& draws) {
  Case<Op> c{.entry_point = entry_point, .note = "sequences of few tokens, some of them empty"};
  Problem& p = c.problem;
  const bool rope = requires_rope(entry_point);
  p = {.input_layout = spec::Layout::tnd,
       .dtype =
           rope ? spec::DType::bf16 : types_in_turn[static_cast<std::size_t>(draws.integer(0, 2))]};
  p.heads_kv = draws.integer(1, 3);
  p.heads_q = p.heads_kv * draws.one_of<std::int64_t>({1, 2, 2, 3, 4});
  p.head_dim = p.head_dim_v = rope ? 8 * draws.integer(2, 4) : draws.integer(12, 40);
  if (rope) p.head_dim_rope = 8;
  const std::int64_t count = draws.integer(4, 9);
  const std::int64_t other = side == ShortSide::both ? longest : draws.integer(4, 40);
  Tokens of_queries = draw_tokens_of(count, side == ShortSide::key ? other : longest, true, draws);
  const bool empty_keys = side != ShortSide::query || draws.integer(0, 1) == 0;
  Tokens of_keys =
      draw_tokens_of(count, side == ShortSide::query ? other : longest, empty_keys, draws);
  // Makes sure that the last sequence has both queries and keys.
  of_queries.back() = std::max<std::int64_t>(of_queries.back(), 1);
  of_keys.back() = std::max<std::int64_t>(of_keys.back(), 1);
  set_lengths(p, std::move(of_queries), std::move(of_keys));
  draw_short_mask(p, draws);
  if (draws.integer(0, 2) == 0) {
    p.keep_prob = 0.5;
    p.drop_mask = draws.one_of({spec::DropMask::exact, spec::DropMask::granules});
  }
  c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  return c;
}

/// Makes a random case with `blocks` heads in all sequences together, because a kernel may compute
/// each head as one block of work. `blocks` is close to the number of cores of a device.
template <class Op>
Case<Op> draw_blocks(std::int64_t blocks, spec::DType dtype, Draws& draws) {
  using spec::Layout;
  using T = Traits<Op>;
  Case<Op> c{.track = Track::exact,
             .note = "number of heads equal to the number of cores, or one more, or one less"};
  Problem& p = c.problem;
  p = {.dtype = dtype, .head_dim = 16, .head_dim_v = 16};
  // Chooses a random divisor of `blocks`, so that the number of heads and the number of sequences
  // both vary.
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= blocks; ++d)
    if (blocks % d == 0) divisors.push_back(d);
  p.heads_q = divisors[static_cast<std::size_t>(draws.integer(0, std::ssize(divisors) - 1))];
  p.heads_kv = p.heads_q % 2 == 0 && draws.integer(0, 1) == 0 ? p.heads_q / 2 : p.heads_q;
  p.batch = blocks / p.heads_q;
  p.seq_q = draws.integer(3, 16), p.seq_kv = draws.integer(p.seq_q, 20);
  p.input_layout =
      draws.one_of({Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd, Layout::tnd});
  if (is_packed(p.input_layout))
    set_lengths(p, Tokens(static_cast<std::size_t>(p.batch), p.seq_q),
                Tokens(static_cast<std::size_t>(p.batch), p.seq_kv));
  c.entry_point = is_packed(p.input_layout) ? draws.one_of(T::packed_untyped)
                                            : draws.one_of({T::dense, T::dense_typed});
  if (draws.integer(0, 1) == 0) p.sparse_mode = 2, p.atten_mask = spec::MaskShape::compressed;
  c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  return c;
}

/// Returns small cases of packed sequences, for every entry point without a sink that accepts them.
/// Some are compared bit by bit (track exact), others with tolerances (track bound). The longest
/// sequence has 1, 2 or 3 queries, or keys, or both; some sequences are empty.
template <class Op>
std::vector<Case<Op>> short_cases(std::uint64_t seed) {
  std::vector<Case<Op>> cases;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(12);
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries) {
    if (!is_unpadding(entry_point) || has_sink(entry_point)) continue;
    for (std::int64_t longest = 1; longest <= 3; ++longest)
      for (const ShortSide side : {ShortSide::query, ShortSide::key, ShortSide::both}) {
        Draws draws(lots + cases.size());
        Case<Op> c =
            drawn_legally([&] { return draw_short<Op>(entry_point, longest, side, draws); });
        c.track = cases.size() % 2 == 0 ? Track::exact : Track::bound;
        c.problem.scale_value = c.track == Track::exact
                                    ? exact_case_scale(c.problem, c.seed)
                                    : attention::ordinary_scale(c.problem.head_dim);
        cases.push_back(std::move(c));
      }
  }
  return cases;
}

/// Returns small exact cases (compared bit by bit) with a total number of heads close to a number
/// of cores (24 or 48) or to a multiple of one.
template <class Op>
std::vector<Case<Op>> core_cases(std::uint64_t seed) {
  std::vector<Case<Op>> cases;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(20);
  for (const std::int64_t cores : {24, 48})
    for (const std::int64_t offset : {-1, 0, 1}) {
      Draws draws(lots + cases.size());
      const std::int64_t rounds = draws.integer(1, 96 / cores);
      Case<Op> c = draw_blocks<Op>(cores * rounds + offset,
                                   types_in_turn[cases.size() % types_in_turn.size()], draws);
      c.problem.scale_value = exact_case_scale(c.problem, c.seed);
      cases.push_back(std::move(c));
    }
  return cases;
}

}  // namespace assay::conformance::attention::flash
