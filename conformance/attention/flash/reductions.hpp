#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/flash/traits.hpp"
#include "attention/reductions.hpp"
#include "case/lengths.hpp"
#include "case/reduction.hpp"
#include "case/user_formula.hpp"

/// Ways to make a failing case smaller.
namespace assay::conformance::attention::flash {

using Lengths = std::vector<std::int64_t>;

/// Sets the lengths of queries and keys. Shortens each prefix that is longer than the keys of its
/// sequence.
inline void cut_to(Problem& p, const Lengths& queries, const Lengths& keys) {
  for (std::size_t b = 0; b < std::min(p.prefix.size(), keys.size()); ++b)
    p.prefix[b] = std::min(p.prefix[b], keys[b]);
  set_lengths(p, queries, keys);
}

template <class Op>
Case<Op> with_sequences(Case<Op> c, const SequenceChoice& kept) {
  Problem& p = c.problem;
  const Lengths queries = kept.of(all_lengths(p, &Problem::length_q));
  const Lengths keys = kept.of(all_lengths(p, &Problem::length_kv));
  p.prefix = kept.of(p.prefix);
  cut_to(p, queries, keys);
  return c;
}

template <class Op>
std::vector<Case<Op>> without_sequences(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  const std::int64_t batch = c.problem.batch;
  for (const SequenceChoice& kept : fewer_sequences(batch))
    cases.push_back(with_sequences(c, kept));
  if (batch > 1) cases.push_back(with_sequences(c, {batch - 1, 1, false}));
  return cases;
}

/// Adds a copy of the case with every sequence cut to at most these numbers of queries and keys. If
/// the case has a prefix, adds a second copy with the original distance between the prefix and the
/// last key.
template <class Op>
void add_cut(std::vector<Case<Op>>& cases, const Case<Op>& c, std::int64_t most_queries,
             std::int64_t most_keys) {
  const auto shortened = [](Lengths lengths, std::int64_t most) {
    for (std::int64_t& length : lengths) length = std::min(length, most);
    return lengths;
  };
  const Lengths queries = shortened(all_lengths(c.problem, &Problem::length_q), most_queries);
  const Lengths keys = shortened(all_lengths(c.problem, &Problem::length_kv), most_keys);
  cases.push_back(c);
  cut_to(cases.back().problem, queries, keys);
  if (c.problem.prefix.empty()) return;
  cases.push_back(c);
  Problem& p = cases.back().problem;
  for (std::size_t b = 0; b < std::min(p.prefix.size(), keys.size()); ++b)
    p.prefix[b] -= std::min(p.prefix[b], p.length_kv(static_cast<std::int64_t>(b)) - keys[b]);
  cut_to(p, queries, keys);
}

template <class Op>
std::vector<Case<Op>> shorter_sequences(const Case<Op>& c) {
  const std::int64_t queries = c.problem.seq_q, keys = c.problem.seq_kv;
  std::vector<Case<Op>> cases;
  if (c.problem.batch == 0) return cases;
  for (const std::int64_t most : values_below(std::max(queries, keys), 1))
    add_cut(cases, c, most, most);
  for (const std::int64_t most : values_below(queries, 1)) add_cut(cases, c, most, keys);
  for (const std::int64_t most : values_below(keys, 1)) add_cut(cases, c, queries, most);
  return cases;
}

template <class Op>
std::vector<Case<Op>> shorter_single_sequences(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  if (!is_packed(c.problem.input_layout) || c.problem.batch == 1) return cases;
  const Lengths queries = all_lengths(c.problem, &Problem::length_q);
  const Lengths keys = all_lengths(c.problem, &Problem::length_kv);
  for (std::size_t b = 0; b < std::min<std::size_t>(queries.size(), most_single_sequences); ++b) {
    for (const std::int64_t length : values_below(queries[b], 0)) {
      Lengths shorter = queries;
      shorter[b] = length;
      cases.push_back(c);
      cut_to(cases.back().problem, shorter, keys);
    }
    for (const std::int64_t length : values_below(keys[b], 0)) {
      Lengths shorter = keys;
      shorter[b] = length;
      cases.push_back(c);
      cut_to(cases.back().problem, queries, shorter);
    }
  }
  return cases;
}

template <class Op>
std::vector<Case<Op>> smaller_heads(const Case<Op>& c) {
  const Problem& p = c.problem;
  std::vector<Case<Op>> cases;
  const auto add = [&](std::int64_t dim, std::int64_t dim_v, std::int64_t dim_rope) {
    cases.push_back(c);
    cases.back().problem.head_dim = dim;
    cases.back().problem.head_dim_v = dim_v;
    cases.back().problem.head_dim_rope = dim_rope;
  };
  for (const std::int64_t most : values_below(p.head_dim, 1))
    add(most, std::min(p.head_dim_v, most), p.head_dim_rope);
  for (const std::int64_t dim_v : values_below(p.head_dim_v, 1))
    add(p.head_dim, dim_v, p.head_dim_rope);
  for (const std::int64_t dim_rope : values_below(p.head_dim_rope, 1))
    add(p.head_dim, p.head_dim_v, dim_rope);
  return cases;
}

template <class Op>
std::vector<Case<Op>> without_pse(Case<Op> c) {
  const Problem none;
  c.problem.pse_shift = none.pse_shift;
  c.problem.pse_type = none.pse_type;
  c.problem.q_start_idx.clear();
  c.problem.kv_start_idx.clear();
  return {c};
}

template <class Op>
std::vector<Case<Op>> without_dropout(Case<Op> c) {
  const Problem none;
  c.problem.keep_prob = none.keep_prob;
  c.problem.drop_mask = none.drop_mask;
  c.patterns.drop = Case<Op>{}.patterns.drop;
  return {c};
}

template <class Op>
std::vector<Case<Op>> without_rope(Case<Op> c) {
  if (c.problem.head_dim_rope == 0) return {};
  c.problem.head_dim_rope = 0;
  if (requires_rope(c.entry_point)) c.entry_point = Traits<Op>::packed_typed;
  return {c};
}

template <class Op>
std::vector<Case<Op>> without_sink(Case<Op> c) {
  if (!has_sink(c.entry_point)) return {};
  c.problem.sink = spec::SinkShape::absent;
  c.patterns.sink_size = Case<Op>{}.patterns.sink_size;
  return {c};
}

template <class Op>
void unmask(Case<Op>& c, std::int64_t sparse_mode, spec::MaskShape shape) {
  c.problem.sparse_mode = sparse_mode;
  c.problem.atten_mask = shape;
  c.problem.pre_tokens = c.problem.next_tokens = spec::unbounded_tokens;
  c.problem.prefix.clear();
}

/// Returns cases with simpler masks: no mask, one matrix for all sequences and heads, causal masks.
template <class Op>
std::vector<Case<Op>> simpler_mask(const Case<Op>& c) {
  const std::int64_t mode = c.problem.sparse_mode;
  const spec::MaskShape shape = c.problem.atten_mask;
  Case<Op> bare = c, single = c, plain = c, right_down = c, left_up = c;
  unmask(bare, 0, spec::MaskShape::absent);
  bare.patterns.mask = Case<Op>{}.patterns.mask;
  bare.problem.mask_dtype = spec::DType::boolean;
  if (shape == spec::MaskShape::absent) return {bare};
  const spec::MaskShape triangle = is_compressed(shape) ? shape : spec::MaskShape::compressed;
  single.problem.atten_mask =
      is_compressed(shape) ? spec::MaskShape::compressed : spec::MaskShape::ss;
  unmask(plain, 0, spec::MaskShape::ss);
  unmask(right_down, 3, triangle);
  unmask(left_up, 2, triangle);
  if (mode < 2) return {bare, plain, single};
  plain.patterns.mask = "causal";
  std::vector<Case<Op>> cases = {bare, plain};
  if (is_compressed(shape) && shape != spec::MaskShape::compressed) cases.push_back(single);
  if (mode > 2) cases.push_back(left_up);
  if (mode > 3) cases.push_back(right_down);
  return cases;
}

/// Returns cases with preTokens, nextTokens and prefixes closer to 0.
template <class Op>
std::vector<Case<Op>> smaller_window(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const auto tokens : {&Problem::pre_tokens, &Problem::next_tokens}) {
    const std::int64_t value = c.problem.*tokens;
    if (value == spec::unbounded_tokens) continue;
    for (const std::int64_t smaller : values_below(std::abs(value), 0)) {
      cases.push_back(c);
      cases.back().problem.*tokens = value < 0 ? -smaller : smaller;
    }
  }
  const std::int64_t longest = c.problem.prefix.empty() ? 0 : std::ranges::max(c.problem.prefix);
  for (const std::int64_t most : values_below(longest, 0)) {
    cases.push_back(c);
    for (std::int64_t& prefix : cases.back().problem.prefix) prefix = std::min(prefix, most);
  }
  return cases;
}

/// Returns the same case in the padded layout BNSD, with equal sequence lengths.
template <class Op>
std::vector<Case<Op>> simpler_layout(const Case<Op>& c) {
  Case<Op> simpler = c;
  simpler.problem.input_layout = spec::Layout::bnsd;
  if (!is_packed(c.problem.input_layout)) return {simpler};
  simpler.entry_point = c.problem.has_sink() ? entry_point_with_sink<typename Op::EntryPoint>(false)
                        : has_pse_type(c.entry_point) ? Traits<Op>::dense_typed
                                                      : Traits<Op>::dense;
  simpler.problem.softmax_in_layout = spec::SoftmaxInLayout::empty;
  simpler.problem.statistics_order = spec::StatisticsOrder::heads_first;
  return {simpler};
}

/// Returns the case for the entry point with the fewest parameters. The bytes of the statistics do
/// not change.
template <class Op>
std::vector<Case<Op>> plain_entry_point(Case<Op> c) {
  if (c.problem.has_sink()) return {};
  c.problem.softmax_in_layout = spec::SoftmaxInLayout::empty;
  c.entry_point = is_unpadding(c.entry_point) ? Traits<Op>::packed : Traits<Op>::dense;
  return {c};
}

template <class Op>
std::vector<Case<Op>> unit_scale(Case<Op> c) {
  c.problem.scale_value = 1;
  return {c};
}

/// Returns cases with simpler numbers in the user's formula.
template <class Op>
std::vector<Case<Op>> simpler_formula(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (const std::string& variant : simpler_formulas(c.variant)) {
    cases.push_back(c);
    cases.back().variant = variant;
  }
  return cases;
}

/// Returns cases whose part ends earlier, or starts later.
template <class Op>
std::vector<Case<Op>> smaller_part(const Case<Op>& c) {
  const auto part = part_of(c.part);
  if (!part) return {};
  const auto [axis, first, last] = *part;
  const std::int64_t middle = (first + last) / 2;
  std::vector<Case<Op>> cases;
  for (const GradientPart& other :
       {GradientPart{axis, 0, 0}, GradientPart{axis, first, first},
        GradientPart{axis, 0, last - first},
        GradientPart{axis, first / 2, last - first + first / 2}, GradientPart{axis, first, middle},
        GradientPart{axis, middle + 1, last}}) {
    const bool is_smaller =
        other.last < last || (other.last == last && other.size() < part->size());
    if (!is_smaller || other.size() < 1) continue;
    cases.push_back(c);
    cases.back().part = text_of(other);
  }
  return cases;
}

template <class Op>
std::span<const Reduction<Op>> reductions() {
  static constexpr Reduction<Op> all[] = {
      {"a smaller part", smaller_part<Op>},
      {"fewer sequences", without_sequences<Op>},
      {"shorter sequences", shorter_sequences<Op>},
      {"fewer heads", fewer_heads<Op>},
      {"smaller heads", smaller_heads<Op>},
      {"sequences shortened one by one", shorter_single_sequences<Op>},
      {"no position bias", [](const Case<Op>& c) { return without_pse<Op>(c); }},
      {"no dropout", [](const Case<Op>& c) { return without_dropout<Op>(c); }},
      {"no rope", [](const Case<Op>& c) { return without_rope<Op>(c); }},
      {"no sink", [](const Case<Op>& c) { return without_sink<Op>(c); }},
      {"a simpler mask", simpler_mask<Op>},
      {"a smaller window", smaller_window<Op>},
      {"a simpler layout", simpler_layout<Op>},
      {"a plain entry_point", [](const Case<Op>& c) { return plain_entry_point<Op>(c); }},
      {"scale 1", [](const Case<Op>& c) { return unit_scale<Op>(c); }},
      {"simpler numbers in a formula", simpler_formula<Op>}};
  return all;
}

inline std::span<const std::string_view> fields_of_reductions() {
  static constexpr std::string_view names[] = {
      "layout",    "batch",      "heads_q",  "heads_kv",   "seq_q",         "seq_kv",
      "lengths_q", "lengths_kv", "head_dim", "head_dim_v", "head_dim_rope", "scale_value"};
  return names;
}

}  // namespace assay::conformance::attention::flash
