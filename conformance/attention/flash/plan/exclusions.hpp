#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/flash/plan/draws.hpp"
#include "attention/flash/plan/factors.hpp"
#include "plan/forbidden.hpp"

/// Lists the combinations of factor values (properties of a case) that random cases never have.
namespace assay::conformance::attention::flash {

template <class Value>
bool any_of(Value value, std::initializer_list<Value> values) {
  for (const Value one : values)
    if (one == value) return true;
  return false;
}

inline bool has_windows(std::int64_t mode) { return mode == 0 || mode == 4 || mode >= 7; }
inline bool has_slopes(const Categories& k) { return k.pse == Pse::type_2 || k.pse == Pse::type_3; }

inline bool is_short(LengthsKind lengths) {
  return lengths == LengthsKind::one_query || lengths == LengthsKind::one_key;
}
inline bool is_negative(WindowKind window) {
  return window == WindowKind::negative_next || window == WindowKind::negative_pre;
}
inline bool has_empty(LengthsKind lengths) {
  return any_of(lengths, {LengthsKind::empty_q, LengthsKind::empty_kv, LengthsKind::empty_both});
}
inline bool is_thin(std::string_view pattern) {
  return pattern != "open" && pattern != "random" && pattern != "padding";
}

/// Returns whether the window contradicts the sparse mode. A bounded window must be `ignored` if,
/// and only if, the call does not read it.
inline bool mistakes_window(const Categories& k) {
  if (k.window == WindowKind::unbounded) return false;
  const bool reads = is_masked(k) && has_windows(k.sparse_mode);
  return reads == (k.window == WindowKind::ignored) ||
         (k.window == WindowKind::ignored && has_windows(k.sparse_mode));
}

inline bool mistakes_prefix(const Categories& k) {
  const bool reads = (k.sparse_mode == 5 || k.sparse_mode == 6) && is_masked(k);
  if (!reads) return k.prefix != Prefix::absent && k.prefix != Prefix::ignored;
  return k.prefix == Prefix::ignored || (k.sparse_mode == 5 && k.prefix == Prefix::absent);
}

template <class Op>
std::vector<Exclusion> senseless_of_entry_points() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::senseless;
  return {
      of.rule({why, "The entry point has no pseType and behaves as with pseType 1."},
              {"entry_point", "pse_type"},
              [](const K& k) {
                return !has_pse_type(k.entry_point) && k.pse != Pse::absent && k.pse != Pse::type_1;
              }),
      of.rule({why, "The entry point has no start indices."}, {"entry_point", "start"},
              [](const K& k) { return !has_pse_type(k.entry_point) && k.start != Start::absent; }),
      of.rule({why, "The entry point has no softmaxInLayout."}, {"entry_point", "in_layout"},
              [](const K& k) {
                return !has_softmax_in_layout(k.entry_point) &&
                       k.in_layout != spec::SoftmaxInLayout::empty;
              }),
      of.rule({why, "The entry point has no rope."}, {"entry_point", "rope"},
              [](const K& k) { return !has_rope(k.entry_point) && k.rope != Rope::absent; }),
  };
}

template <class Op>
std::vector<Exclusion> senseless_of_positions() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::senseless;
  return {
      of.rule({why, "In padded layouts the statistics have only one memory order."},
              {"layout", "statistics"},
              [](const K& k) {
                return !is_packed(k) && k.statistics != spec::StatisticsOrder::heads_first;
              }),
      of.rule({why, "In padded layouts every sequence has the length of the axis."},
              {"layout", "lengths"},
              [](const K& k) {
                return !is_packed(k) &&
                       any_of(k.lengths, {LengthsKind::paired, LengthsKind::unequal,
                                          LengthsKind::single, LengthsKind::many});
              }),
      of.rule({why, "A mask that is compressed or made from a prefix has no pattern."},
              {"sparse_mode", "mask", "pattern"},
              [](const K& k) {
                return (!is_written_out(k.mask) || k.sparse_mode == 5) && k.pattern != "random";
              }),
      of.rule({why, "A window is `ignored` if and only if no part of the call reads it."},
              {"sparse_mode", "mask", "window"}, mistakes_window),
      of.rule({why, "The lengths of one sequence set both ends of the window of modes 7 and 8."},
              {"sparse_mode", "mask", "window"},
              [](const K& k) {
                if (k.sparse_mode < 7 || !is_masked(k)) return false;
                return is_negative(k.window) ||
                       (k.sparse_mode == 7 && k.window == WindowKind::unbounded);
              }),
      of.rule({why,
               "In mode 7 the mask of every sequence is a part of a causal mask, and no sequence "
               "has more queries than keys."},
              {"sparse_mode", "mask", "lengths"},
              [](const K& k) {
                return k.sparse_mode == 7 && is_masked(k) &&
                       any_of(k.lengths,
                              {LengthsKind::longer_q, LengthsKind::one_key, LengthsKind::empty_kv});
              }),
      of.rule({why, "A prefix is `ignored` if and only if no part of the call reads it."},
              {"sparse_mode", "mask", "prefix"}, mistakes_prefix),
      of.rule({why, "A mask without a batch axis can contain only one prefix."},
              {"layout", "sparse_mode", "mask", "lengths"},
              [](const K& k) {
                return is_packed(k) && k.sparse_mode == 5 && k.lengths != LengthsKind::single &&
                       any_of(k.mask, {spec::MaskShape::ss, spec::MaskShape::one_one_ss});
              }),
      of.rule({why, "A bias has a shape if and only if it is present."}, {"pse_type", "pse_shape"},
              [](const K& k) {
                return (k.pse == Pse::absent) != (k.pse_shape == spec::PseShape::absent);
              }),
      of.rule(
          {why,
           "A bias of 1024 rows contains the last rows of a square bias, so it needs Sq = Skv."},
          {"lengths", "pse_shape"},
          [](const K& k) {
            return is_compressed(k.pse_shape) &&
                   !any_of(k.lengths, {LengthsKind::equal, LengthsKind::paired, LengthsKind::single,
                                       LengthsKind::many});
          }),
      of.rule({why, "The documents define a bias beyond its 1024 rows only for causal masks."},
              {"sparse_mode", "pse_shape"},
              [](const K& k) {
                return is_compressed(k.pse_shape) && (k.sparse_mode == 1 || k.sparse_mode >= 5);
              }),
  };
}

template <class Op>
std::vector<Exclusion> senseless_of_numbers() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::senseless;
  return {
      of.rule({why, "Without dropout all scores are kept; with dropout some are dropped."},
              {"dropout", "keep"},
              [](const K& k) {
                return (k.dropout == Dropout::off) !=
                       (k.keep == Keep::one || k.keep == Keep::one_with_mask);
              }),
      of.rule({why, "Without dropout the bits are not read."}, {"dropout", "drop"},
              [](const K& k) { return k.dropout == Dropout::off && k.drop != "random"; }),
      of.rule(
          {why, "keep_prob of an exact case is a power of two."}, {"keep", "track"},
          [](const K& k) { return is_exact(k) && (k.keep == Keep::most || k.keep == Keep::tiny); }),
      of.rule(
          {why,
           "The product of a slope and a distance is not exactly representable in an exact case."},
          {"pse_type", "track"}, [](const K& k) { return is_exact(k) && has_slopes(k); }),
  };
}

template <class Op>
std::vector<Exclusion> fruitless() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::fruitless;
  return {
      of.rule({why, Traits<Op>::empty_padded_sentence}, {"layout", "lengths"},
              [](const K& k) { return !is_packed(k) && has_empty(k.lengths); }),
      of.rule(
          {why, "Modes 7 and 8 limit the bias; no page says whether they do so without a mask."},
          {"sparse_mode", "mask", "pse_type"},
          [](const K& k) { return k.sparse_mode >= 7 && !is_masked(k) && k.pse != Pse::absent; }),
      of.rule(
          {why, "A negative window can mask a short sequence completely."}, {"lengths", "window"},
          [](const K& k) {
            return (is_short(k.lengths) || k.lengths == LengthsKind::many) && is_negative(k.window);
          }),
      of.rule({why, "A negative window can mask one of several sequences completely."},
              {"layout", "lengths", "window"},
              [](const K& k) {
                return is_packed(k) && is_negative(k.window) &&
                       (k.lengths == LengthsKind::paired || k.lengths == LengthsKind::unequal ||
                        has_empty(k.lengths));
              }),
      of.rule({why, "A sparse mask can mask a short sequence completely."}, {"pattern", "lengths"},
              [](const K& k) { return is_short(k.lengths) && is_thin(k.pattern); }),
      of.rule({why, "A sparse mask in a narrow window can mask every pair."}, {"pattern", "window"},
              [](const K& k) {
                if (!is_thin(k.pattern)) return false;
                const bool confined =
                    k.window != WindowKind::unbounded && k.window != WindowKind::ignored;
                return is_negative(k.window) || (confined && k.pattern != "checker");
              }),
      of.rule({why,
               "With profile=sparse_dy most rows of dy are zero; if dy has a single row, it may be "
               "zero, too."},
              {"lengths", "profile"},
              [](const K& k) {
                return k.lengths == LengthsKind::one_query && k.profile == "sparse_dy";
              }),
      of.rule({why, "If there are few pairs, dropout can drop all of them."}, {"lengths", "keep"},
              [](const K& k) { return is_short(k.lengths) && k.keep == Keep::tiny; }),
      of.rule(
          {why,
           "With drop=last_bits the last key of a row is dropped first, so a row with only one key "
           "loses it."},
          {"lengths", "drop"},
          [](const K& k) { return k.lengths == LengthsKind::one_key && k.drop == "last_bits"; }),
      of.rule(
          {why, "If there are few rows, dropout can drop all of them."}, {"lengths", "drop"},
          [](const K& k) { return k.lengths == LengthsKind::one_query && k.drop == "whole_rows"; }),
      of.rule({why, "A small keep_prob can drop all rows if whole rows are dropped."},
              {"keep", "drop"},
              [](const K& k) { return k.keep == Keep::tiny && k.drop == "whole_rows"; }),
      of.rule({why,
               "For packed sequences the forward does not accept a negative nextTokens in mode 0, "
               "so it computes no statistics."},
              {"layout", "sparse_mode", "window"},
              [](const K& k) {
                return is_packed(k) && k.sparse_mode == 0 && k.window == WindowKind::negative_next;
              }),
  };
}

/// Returns the combinations of factor values for which most random cases would violate the
/// documentation of a forward operator.
template <class Op>
std::vector<Exclusion> limits_of_forward() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::senseless;
  if (!is_forward<Op>) return {};
  return {of.rule({why, "In mode 3 no packed sequence has more queries than keys."},
                  {"layout", "sparse_mode", "mask", "lengths"},
                  [](const K& k) {
                    return is_packed(k) && k.sparse_mode == 3 && is_masked(k) &&
                           any_of(k.lengths, {LengthsKind::longer_q, LengthsKind::one_key});
                  }),
          of.rule({why, "With slopes every packed sequence has equal numbers of queries and keys."},
                  {"layout", "pse_type", "lengths"},
                  [](const K& k) {
                    return is_packed(k) && has_slopes(k) &&
                           (has_empty(k.lengths) || k.lengths == LengthsKind::unequal);
                  }),
          of.rule({why, "Mode 6 reads a prefix."}, {"sparse_mode", "mask", "prefix"},
                  [](const K& k) {
                    return k.sparse_mode == 6 && is_masked(k) && k.prefix == Prefix::absent;
                  }),
          of.rule({why, "head_dim_rope is at most the head size of value."},
                  {"rope", "narrow_value"}, [](const K& k) {
                    return k.narrow_value && (k.rope == Rope::part || k.rope == Rope::whole);
                  })};
}

template <class Op>
std::vector<Exclusion> costly() {
  using K = CategoriesOf<Op>;
  const auto& of = factors<Op>();
  constexpr auto why = Why::costly;
  return {
      of.rule({why,
               "In padded layouts, a bias of 1024 rows needs at least 1024 queries and keys; only "
               "corner cases have such a bias."},
              {"layout", "pse_shape"},
              [](const K& k) { return !is_packed(k) && is_compressed(k.pse_shape); }),
      of.rule({why, "A compressed mask with a batch axis takes 4 MiB per sequence."},
              {"mask", "lengths"},
              [](const K& k) {
                return any_of(k.mask, {spec::MaskShape::compressed_b_one_ss,
                                       spec::MaskShape::compressed_bnss}) &&
                       (k.lengths == LengthsKind::many || has_empty(k.lengths));
              }),
  };
}

/// Returns groups of factors on which a single requirement depends.
template <class Op>
std::vector<std::vector<std::size_t>> together() {
  const auto& of = factors<Op>();
  return {of.named({"entry_point", "pse_type", "pse_shape"}),
          of.named({"layout", "pse_type", "lengths"}),
          of.named({"sparse_mode", "mask", "prefix"}),
          of.named({"sparse_mode", "mask", "pse_type"}),
          of.named({"sparse_mode", "mask", "window", "pse_shape"}),
          of.named({"sparse_mode", "mask", "pse_type", "lengths"}),
          of.named({"sparse_mode", "mask", "pse_type", "start"})};
}

/// Returns all factors with their exclusions (forbidden combinations). The object is built once.
template <class Op>
const ChoiceSpace& choice_space() {
  static const ChoiceSpace space = [] {
    ChoiceSpace all(factors<Op>().sizes(), senseless_of_entry_points<Op>());
    for (const auto& more : {senseless_of_positions<Op>(), attention::senseless(factors<Op>()),
                             senseless_of_numbers<Op>(), limits_of_forward<Op>()})
      all = ChoiceSpace(all, more);
    all = with_forbidden(
        std::move(all), together<Op>(),
        [](const Choice& choice, std::uint64_t lot, std::span<const std::string_view> among) {
          Draws draws(lot);
          return forbidden_by(draw_fields<Op>(factors<Op>().chosen(choice), 2e5, draws), among);
        });
    return ChoiceSpace(ChoiceSpace(all, fruitless<Op>()), costly<Op>());
  }();
  return space;
}

}  // namespace assay::conformance::attention::flash
