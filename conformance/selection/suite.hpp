#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/plan/sizes.hpp"
#include "attention/profiles.hpp"
#include "case/limits.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"
#include "selection/cost.hpp"
#include "selection/limits.hpp"
#include "selection/lists.hpp"
#include "selection/plan/calls.hpp"
#include "selection/plan/exclusions.hpp"
#include "selection/plan/factor_table.hpp"
#include "selection/reductions.hpp"
#include "selection/traits.hpp"

/// Defines the member functions of the template SuiteOf. Each operator has one source file that
/// includes this file and instantiates the functions.
namespace assay::conformance {

template <class Op>
spec::Tensor make_topk_indices(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  return selection::topk_indices(c.problem, call.parameters.topk_indices, c.patterns.lists, c.seed);
}

template <class Op>
std::optional<spec::Tensor> make_causal_mask(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  return selection::mask(c.problem, call.parameters.atten_mask);
}

namespace selection {

template <class Op>
std::span<const PatternField<Op>> SuiteOf<Op>::patterns() {
  static constexpr PatternField<Op> all[] = {
      {"lists", &Patterns::lists, "pattern of the lists of blocks", list_patterns}};
  return all;
}

template <class Op>
std::span<const InputProfile> SuiteOf<Op>::profiles() {
  return attention::profiles();
}

template <class Op>
std::span<const FieldRange> SuiteOf<Op>::field_ranges() {
  constexpr std::int64_t longest = 128 * 1024;
  constexpr Requirements of = Traits<Op>::requirements;
  static constexpr FieldRange ranges[] = {
      {"batch", 1, Traits<Op>::most_sequences, of.batch},
      {"heads_q", 1, 128, of.heads_q},
      {"heads_kv", 1, 128, of.heads_kv},
      {"seq_q", 1, longest, of.length},
      {"seq_kv", 1, longest, of.length},
      {"lengths_q", 1, longest},
      {"lengths_kv", 1, longest},
      {"head_dim", 128, 192, of.head_dim, 64},
      {"head_dim_v", 128, 192, of.head_dim, 64},
      {"selected_block_size", 16, 128, of.block_size, 16},
      {"selected_block_count", 1, 128, of.block_count},
      {"sparse_mode", 0, 2, of.sparse_mode, 2},
      {"rows", 0, longest},
  };
  return ranges;
}

template <class Op>
void SuiteOf<Op>::require_possible(const Case<Op>& c) {
  const Problem& p = c.problem;
  require_sensible(p);
  // The outputs of a call can be judged only if the documentation defines their expected values.
  // The documentation does not define them for sparse mode 2 without a mask.
  const bool is_open = p.sparse_mode == 2 && p.atten_mask == spec::SelectedMask::absent;
  if (c.track != Track::arguments && is_open && !Traits<Op>::means_mode_without_mask)
    refuse_alone("sparse_mode", "2", "needs a mask; its meaning without a mask is open (NSAS-C33a)",
                 "add --atten_mask=compressed, or --track=arguments");
  if (!Traits<Op>::may_widen_value && p.head_dim_v > p.head_dim)
    refuse("head_dim_v", std::to_string(p.head_dim_v),
           "at most head_dim, which is " + std::to_string(p.head_dim));
  require_relation(c, Suite<Op>::RelationParts::relations());
  require_size({.largest_tensor = largest_tensor(p),
                .bytes = Traits<Op>::memory(p),
                .with_numbers = c.track != Track::arguments},
               "batch, heads_q, seq_q or seq_kv");
}

template <class Op>
void SuiteOf<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  cases.add(violation_cases<Op>());
  cases.add(variant_cases<Op>());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(cases_of<Op>({with_many_tokens(plan.seed)}));
  cases.add(cases_of<Op>(counted_problems(plan.seed)));
  cases.add(drawn<Op>().cover(plan));
  std::vector<Case<Op>> exact = hand_made_cases<Op>("exact", plan);
  // An exact case (all sums are exact) needs a scale_value that fits its seed. If the seed changes,
  // scale_value must change, too.
  if (plan.seed != SamplingPlan().seed)
    for (Case<Op>& c : exact) c.problem.scale_value = exact_scale(c.problem, c.seed);
  cases.add(exact);
  cases.add(hand_made_cases<Op>("relations", plan));
  for (std::int64_t round = 0; round < Traits<Op>::random_rounds; ++round) {
    SamplingPlan lots = plan;
    lots.seed += static_cast<std::uint64_t>(1'000'000 * round);
    cases.add(drawn<Op>().random(lots));
  }
  cases.add(drawn<Op>().completion(plan, cases.cases()));
  if (plan.full) cases.add(drawn<Op>().completion_of_triples(plan, cases.cases()));
}

template <class Op>
const Axes* SuiteOf<Op>::axes() {
  static const Axes all{Op::name, choice_space<Op>(), factors<Op>().axes()};
  return &all;
}

template <class Op>
Choice SuiteOf<Op>::choice_of(const Case<Op>& c) {
  return factors<Op>().read(c);
}

template <class Op>
std::vector<Size> SuiteOf<Op>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff;
  const Problem& p = c.problem;
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  const std::string_view of_type =
      p.dtype == spec::DType::fp16 ? "heads of a group, fp16" : "heads of a group, bf16";
  return {{of_type, p.group(), 0, multiples(1, 32)},
          {"sequences", p.batch},
          {"block size", p.selected_block_size, 0, multiples(16, 128)},
          {"blocks of a list", p.selected_block_count, 0, multiples(1, 32)},
          {"tokens", tokens, of_16_bits}};
}

/// Returns the fields that affect the expected outputs. The block count is not in the list: it
/// determines the shape of the block lists, so it cannot change alone.
template <class Op>
std::span<const FormulaField<Op>> SuiteOf<Op>::formula_fields() {
  static const std::vector<FormulaField<Op>> all = {
      {"scale_value",
       [](const Case<Op>&) { return true; },
       [](Problem& p) { p.scale_value = p.scale_value == 0 ? 0.5 : 1.25 * p.scale_value; },
       {factors<Op>().choice({})}},
      {"selected_block_size",
       [](const Case<Op>&) { return true; },
       [](Problem& p) { p.selected_block_size /= 2; },
       {factors<Op>().choice({})}},
      {"sparse_mode",
       [](const Case<Op>& c) { return c.problem.atten_mask != spec::SelectedMask::absent; },
       [](Problem& p) { p.sparse_mode = p.sparse_mode == 0 ? 2 : 0; },
       {factors<Op>().choice({{"mask", "compressed"}})}},
  };
  return all;
}

template <class Op>
double SuiteOf<Op>::multiply_adds(const Problem& p) {
  using T = Traits<Op>;
  const auto dims =
      static_cast<double>(T::products_of_head * p.head_dim + T::products_of_value * p.head_dim_v);
  return entries(p) * dims;
}

// Estimates the time (seconds, one core) of judging a case: a constant, the work per element of a
// gradient, the mask, and the work per list entry in the judged rows. The factors were fitted to
// one sweep of the gradient.
template <class Op>
double SuiteOf<Op>::expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const Problem& p = c.problem;
  const double all = entries(p), dims = static_cast<double>(p.head_dim + p.head_dim_v);
  const double gradients =
      elements(query_extents(p)) + elements(key_extents(p)) + elements(value_extents(p));
  const double mask = mask_bytes(p) / 4e8;
  if (c.track == Track::exact || c.track == Track::exact_staged)
    return 0.003 + mask + gradients * 8e-8 + all * dims * 4e-10;
  const auto judged_share = [&](std::int64_t extent) {
    return c.rows == 0 ? 1.0
                       : std::min(1.0, static_cast<double>(c.rows) / static_cast<double>(extent));
  };
  const double judged = all * (judged_share(p.seq_q) + judged_share(p.seq_kv)) / 2;
  // A relation compares at least two runs of the kernel and needs tolerances for every element of
  // each run.
  return (0.008 + mask + gradients * 2.2e-7 + judged * dims * 1.3e-9) *
         (c.track == Track::relation ? 2.5 : 1.0);
}

template <class Op>
std::int64_t SuiteOf<Op>::tensor_elements(const Problem& p) {
  return (query_extents(p).rows() + p.group() * key_extents(p).rows()) * p.head_dim;
}

template <class Op>
std::span<const Reduction<Op>> SuiteOf<Op>::reductions() {
  static constexpr Reduction<Op> all[] = {{"fewer sequences", without_sequences<Op>},
                                          {"fewer queries", fewer_queries<Op, cut<Op>>},
                                          {"fewer blocks", fewer_blocks<Op>},
                                          {"fewer keys", fewer_keys<Op, cut<Op>, listed_keys>},
                                          {"smaller blocks", smaller_blocks<Op>},
                                          {"fewer heads", fewer_heads<Op>},
                                          {"smaller heads", smaller_heads<Op>},
                                          {"no mask", no_mask<Op>},
                                          {"plain lists", plain_lists<Op>},
                                          {"scale 1", unit_scale<Op>}};
  return all;
}

template <class Op>
std::span<const std::string_view> SuiteOf<Op>::fields_of_reductions() {
  static constexpr std::string_view names[] = {"batch",
                                               "heads_q",
                                               "heads_kv",
                                               "seq_q",
                                               "seq_kv",
                                               "lengths_q",
                                               "lengths_kv",
                                               "head_dim",
                                               "head_dim_v",
                                               "selected_block_size",
                                               "selected_block_count",
                                               "lists",
                                               "scale_value"};
  return names;
}

/// For a numerically judged case: returns one sentence for each field that has no effect on the
/// case.
template <class Op>
std::vector<std::string> unread_fields_of(const Case<Op>& c) {
  if (c.track == Track::arguments || c.track == Track::relation) return {};
  const Problem& p = c.problem;
  std::vector<std::string> sentences;
  const bool has_mask = p.atten_mask != spec::SelectedMask::absent;
  if (has_mask && p.sparse_mode == 0)
    sentences.emplace_back("--atten_mask=" + std::string(to_string(p.atten_mask)) +
                           " hides no key in sparse mode 0: add --sparse_mode=2");
  if (!has_mask && p.mask_dtype != Problem().mask_dtype)
    sentences.emplace_back("--mask_dtype=" + std::string(to_string(p.mask_dtype)) +
                           " is not read: add --sparse_mode=2 --atten_mask=compressed");
  return sentences;
}

}  // namespace selection
}  // namespace assay::conformance
