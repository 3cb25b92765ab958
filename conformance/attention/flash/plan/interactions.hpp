#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/flash/traits.hpp"
#include "attention/plan/choices.hpp"
#include "case/lengths.hpp"
#include "plan/draws.hpp"
#include "plan/forbidden.hpp"

namespace assay::conformance::attention::flash {

/// The factors (properties of a case) that are combined. For any four factors, every combination of
/// their values occurs in a case. Values are numbered. `pse`: 0 is absent, k is pseType k - 1. If a
/// factor has two values, value 1 means that the property in the factor's name is true.
enum class Factor : std::uint8_t { layout, dtype, mode, pse, dropout, grouped, tail, narrow_value };
inline constexpr std::array<std::size_t, 8> values_of_factors = {
    spec::spellings_of<spec::Layout>.entries.size(), 3, 9, 5, 2, 2, 2, 2};

/// An interaction: one value for each factor.
using Interaction = std::array<std::size_t, values_of_factors.size()>;

/// Calls visit(key) for each combination of four values in an interaction. The key is a number that
/// identifies the combination.
template <class Visitor>
void visit_fours(const Interaction& x, Visitor&& visit) {
  constexpr std::size_t count = values_of_factors.size();
  const auto part = [&](std::size_t f) { return static_cast<std::uint64_t>(f * 16 + x[f]); };
  for (std::size_t f = 0; f < count; ++f)
    for (std::size_t g = f + 1; g < count; ++g)
      for (std::size_t h = g + 1; h < count; ++h)
        for (std::size_t k = h + 1; k < count; ++k)
          visit(((part(f) << 8 | part(g)) << 8 | part(h)) << 8 | part(k));
}

inline std::size_t value_of(const Interaction& x, Factor factor) {
  return x[static_cast<std::size_t>(factor)];
}
inline bool has_value(const Interaction& x, Factor factor) { return value_of(x, factor) != 0; }

template <class Op>
typename Op::EntryPoint draw_entry_point(const Interaction& x, spec::Layout layout, Draws& draws) {
  using T = Traits<Op>;
  const std::size_t pse = value_of(x, Factor::pse);
  const bool typed = pse != 0 && pse != 2;  // pseType 1 is implied by the other entry points
  if (layout != spec::Layout::tnd)
    return typed ? T::dense_typed : draws.one_of({T::dense, T::dense_typed});
  if (typed) return T::packed_typed;
  if (has_value(x, Factor::narrow_value))  // an entry point with softmaxInLayout requires Dv = D
    return draws.one_of({T::packed, T::packed_typed});
  return draws.one_of(T::packed_choices);
}

inline void draw_some_mask(Problem& p, Draws& draws) {
  const std::int64_t mode = p.sparse_mode;
  p.atten_mask = mode <= 1   ? draws.one_of({spec::MaskShape::ss, spec::MaskShape::one_one_ss})
                 : mode == 5 ? spec::MaskShape::b_one_ss
                             : spec::MaskShape::compressed;
  if (mode == 4) {
    p.pre_tokens = draws.integer(2, 9);
    p.next_tokens = draws.integer(1, 5);
  }
  if (mode == 5 || mode == 6)
    for (std::int64_t b = 0; b < p.batch; ++b)
      p.prefix.push_back(
          draws.integer(std::max<std::int64_t>(0, p.length_kv(b) - p.length_q(b)), p.length_kv(b)));
  if (mode >= 7) {
    p.pre_tokens = p.seq_kv + draws.integer(0, 3);
    p.next_tokens = 0;
  }
}

inline void draw_some_lengths(Problem& p, const Interaction& x, Draws& draws) {
  const bool square = value_of(x, Factor::pse) >= 3 || p.sparse_mode >= 7;
  const auto length = [&] {
    const std::int64_t tiles = 16 * draws.integer(1, 2);
    return has_value(x, Factor::tail) ? tiles + draws.integer(1, 15) : tiles;
  };
  p.batch = draws.integer(1, 2);
  p.seq_q = length();
  p.seq_kv = square ? p.seq_q : length();
  if (!is_packed(p.input_layout)) return;
  const std::int64_t other_q = length(), other_kv = square ? other_q : length();
  set_lengths(p, {p.seq_q, other_q}, {p.seq_kv, other_kv});
}

template <class Op>
Case<Op> draw_interaction(const Interaction& x, Draws& draws) {
  using spec::DType, spec::PseShape;
  constexpr std::array dtypes = {DType::fp16, DType::bf16, DType::fp32};
  Case<Op> c{.track = Track::exact, .note = "four choices together"};
  Problem& p = c.problem;
  p = {.input_layout = static_cast<spec::Layout>(value_of(x, Factor::layout)),
       .dtype = dtypes[value_of(x, Factor::dtype)],
       .head_dim = 24,
       .sparse_mode = static_cast<std::int64_t>(value_of(x, Factor::mode))};
  c.entry_point = draw_entry_point<Op>(x, p.input_layout, draws);
  p.heads_kv = draws.integer(1, 2);
  p.heads_q = p.heads_kv * (has_value(x, Factor::grouped) ? draws.integer(2, 3) : 1);
  p.head_dim_v = has_value(x, Factor::narrow_value) ? draws.integer(5, 20) : p.head_dim;
  draw_some_lengths(p, x, draws);
  draw_some_mask(p, draws);
  if (has_value(x, Factor::dropout)) {
    p.keep_prob = draws.one_of({0.5, 0.25});
    p.drop_mask = draws.one_of({spec::DropMask::exact, spec::DropMask::granules});
  }
  if (const std::size_t pse = value_of(x, Factor::pse); pse != 0) {
    p.pse_type = static_cast<std::int64_t>(pse) - 1;
    p.pse_shift = pse >= 3 ? draws.one_of({PseShape::slopes_bn, PseShape::slopes_n})
                           : draws.one_of({PseShape::bnss, PseShape::bn1s, PseShape::one_nss});
  }
  c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  p.scale_value = exact_case_scale(p, c.seed);
  return c;
}

/// Returns all interactions (one value per factor) that agree with `x` in the first `decided`
/// factors.
inline std::vector<Interaction> completed(const Interaction& x, std::size_t decided) {
  std::vector<Interaction> all = {x};
  for (std::size_t f = decided; f < x.size(); ++f) {
    std::vector<Interaction> more;
    for (Interaction one : all)
      for (one[f] = 0; one[f] < values_of_factors[f]; ++one[f]) more.push_back(one);
    all = std::move(more);
  }
  return all;
}

/// Returns a small exact case (compared bit by bit) with these factor values. Returns nothing if
/// the documents forbid this combination.
template <class Op>
std::optional<Case<Op>> interaction_case(const Interaction& interaction, std::uint64_t lot) {
  constexpr int most_draws = 16;
  Draws draws(lot);
  for (int k = 0; k < most_draws; ++k)
    if (Case<Op> c = draw_interaction<Op>(interaction, draws); forbidden_by(c).empty()) return c;
  return std::nullopt;
}

/// Returns small cases of track bound (judged with tolerances) that have dropout, a bias or start
/// indices. There is one for each combination of entry point, layout and sparse mode for which
/// `known` has no such case.
template <class Op>
std::vector<Case<Op>> field_cases(std::uint64_t seed, std::span<const Case<Op>> known) {
  using EntryPoint = typename Op::EntryPoint;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(17);
  std::vector<Case<Op>> cases;
  const auto add = [&](EntryPoint entry_point, spec::Layout layout, std::size_t mode) {
    bool dropout = true, bias = true, starts = has_pse_type(entry_point) && mode < 7;
    for (const Case<Op>& c : known) {
      const Problem& p = c.problem;
      if (c.entry_point != entry_point || p.input_layout != layout || c.track == Track::arguments ||
          c.track == Track::relation || p.sparse_mode != static_cast<std::int64_t>(mode))
        continue;
      dropout = dropout && !p.has_dropout();
      bias = bias && p.pse_shift == spec::PseShape::absent;
      starts = starts && (p.pse_type < 2 || p.q_start_idx.empty() || p.kv_start_idx.empty() ||
                          p.pse_shift == spec::PseShape::absent);
    }
    if (!dropout && !bias && !starts) return;
    const std::size_t turn = cases.size(), pse = starts ? 3 + turn % 2 : bias ? 2 : 0;
    auto c = interaction_case<Op>({static_cast<std::size_t>(layout), turn % 3, mode, pse,
                                   static_cast<std::size_t>(dropout ? 1 : 0), turn / 2 % 2, 1, 0},
                                  lots + turn);
    if (!c) return;
    c->entry_point = entry_point;
    c->track = Track::bound;
    c->note = "a combination of field values that no other case has";
    c->problem.scale_value = attention::ordinary_scale(c->problem.head_dim);
    if (starts) c->problem.q_start_idx = {7}, c->problem.kv_start_idx = {3};
    if (forbidden_by(*c).empty()) cases.push_back(*std::move(c));
  };
  for (const auto& [entry_point, spelled] : spec::spellings_of<EntryPoint>.entries)
    for (const auto& [layout, name] : spec::spellings_of<spec::Layout>.entries)
      for (std::size_t mode = 0; mode <= 8; ++mode)
        if (!has_rope(entry_point) && !has_sink(entry_point) &&
            is_unpadding(entry_point) == is_packed(layout))
          add(entry_point, layout, mode);
  return cases;
}

/// Returns small exact cases that combine layout, type, sparse mode, dropout, position bias,
/// grouped heads, incomplete tiles and a narrower value tensor. For any four of these factors,
/// every legal combination of values occurs.
///
/// The first step creates one case for every combination of values of the factors with more than
/// two values. It chooses the values of the other factors so that they add as many new combinations
/// of four values as possible. The second step adds cases until all combinations of four are
/// covered.
template <class Op>
std::vector<Case<Op>> interaction_cases(std::uint64_t seed) {
  constexpr auto many = static_cast<std::size_t>(Factor::dropout);
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(18);
  std::vector<Case<Op>> cases;
  std::set<std::uint64_t> held;
  const auto open = [&](const Interaction& x) {
    int count = 0;
    visit_fours(x, [&](std::uint64_t four) { count += held.contains(four) ? 0 : 1; });
    return count;
  };
  const auto take = [&](const Interaction& x) {
    const auto c = interaction_case<Op>(x, lots + cases.size());
    if (!c) return false;
    visit_fours(x, [&](std::uint64_t four) { held.insert(four); });
    cases.push_back(*c);
    return true;
  };
  std::vector<Interaction> legal;
  for (const Interaction& x : completed({}, 0)) {
    if (std::any_of(x.begin() + many, x.end(), [](std::size_t value) { return value != 0; }))
      continue;
    std::vector<std::pair<int, Interaction>> candidates;
    for (const Interaction& y : completed(x, many)) candidates.emplace_back(-open(y), y);
    std::ranges::sort(candidates);
    // One attempt is enough: if a call is illegal, no value of a two-valued factor makes it legal.
    if (take(candidates.front().second)) legal.push_back(x);
  }
  for (const Interaction& x : legal)
    for (const Interaction& y : completed(x, many))
      if (open(y) > 0) take(y);
  return cases;
}

}  // namespace assay::conformance::attention::flash
