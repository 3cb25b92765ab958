#pragma once

#include <concepts>
#include <iterator>
#include <string>

#include "assay/conformance/compression/suite.hpp"
#include "bilinear/basis.hpp"
#include "case/limits.hpp"
#include "compression/cost.hpp"
#include "compression/limits.hpp"
#include "compression/plan/calls.hpp"
#include "compression/plan/factors.hpp"
#include "compression/reductions.hpp"
#include "compression/relations/rearranging.hpp"
#include "judge/decide.hpp"
#include "judge/relations/places.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

/// Defines the member functions of SuiteOf. One source file of each operator includes this file and
/// instantiates them.
namespace assay::conformance::compression {

template <class Op>
bilinear::Form SuiteOf<Op>::form(const Problem& problem) {
  return Traits<Op>::form(problem);
}

template <class Op>
std::unique_ptr<Definition> SuiteOf<Op>::definition(const Problem& problem,
                                                    const bilinear::Operands& operands) {
  return bilinear::definition_by_heads<typename Traits<Op>::Oracle>(
      problem, operands, Traits<Op>::row,
      std::make_index_sequence<std::size(Traits<Op>::inputs)>());
}

template <class Op>
std::span<const InputProfile> SuiteOf<Op>::profiles() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const Profile& profile : Traits<Op>::profiles())
      entries.push_back({profile.name, profile.sentence});
    return entries;
  }();
  return named;
}

template <class Op>
typename Op::Inputs SuiteOf<Op>::draw(const Case<Op>& c) {
  const Problem& p = c.problem;
  const Profile& profile = profile_named(Traits<Op>::profiles(), c.profile);
  const double factor = token_factor(p, profile, largest_sum(p, kinds_of(Traits<Op>::outputs)));
  return bilinear::made_inputs(c, [&](std::size_t k, const spec::Parameter& parameter) {
    const auto& drawn = Traits<Op>::inputs[k];
    return bilinear::filled_rows(parameter, extents_of(drawn.kind)(p),
                                 {.seed = c.seed,
                                  .which = drawn.stream,
                                  .value = profile.value,
                                  .factor = drawn.kind == RowKind::token ? factor : 1});
  });
}

template <class Op>
std::span<const FieldRange> SuiteOf<Op>::field_ranges() {
  constexpr std::int64_t mebi = 1024 * 1024, largest_window = 65536;
  static constexpr FieldRange ranges[] = {
      {"batch", 1, mebi},
      {"heads", 1, 256},
      {"seq", 1, 16 * mebi},
      {"lengths", 0, 16 * mebi},
      {"head_dim", 1, 1024},
      {"compress_block_size", 16, largest_window, Traits<Op>::size_requirement},
      {"compress_stride", 16, largest_window, Traits<Op>::stride_requirement},
      {"rows", 0, 16 * mebi},
  };
  return ranges;
}

template <class Op>
void SuiteOf<Op>::require_possible(const Case<Op>& c) {
  const Problem& p = c.problem;
  if (p.dtype != spec::DType::fp16 && p.dtype != spec::DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  require_windows(p, window_tensor<Op>(), Traits<Op>::empty_requirement);
  require_relation(c, RelationParts::relations());
  require_size({.largest_tensor = largest_tensor(p),
                .bytes = memory_estimate(p, c.rows, kinds_of(Traits<Op>::inputs),
                                         kinds_of(Traits<Op>::outputs)),
                .with_numbers = c.track != Track::arguments},
               "batch, heads, seq or rows");
}

template <class Op>
void SuiteOf<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  Case<Op> many_tokens{.seed = plan.seed + 42, .note = "token indices that need more than 16 bits"};
  many_tokens.problem = problem_with_many_tokens(many_tokens.seed);
  cases.add(violation_cases<Op>());
  cases.add(variant_cases<Op>());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add({many_tokens});
  cases.add(drawn<Op>().cover(plan));
  cases.add(hand_made_cases<Op>("exact", plan));
  cases.add(hand_made_cases<Op>("relations", plan));
  cases.add(drawn<Op>().random(plan));
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
  constexpr std::int64_t largest_stride = Traits<Op>::may_lack_overlap ? 128 : 112;
  const Problem& p = c.problem;
  return {{"head_dim", p.head_dim, 0, multiples(16, 256)},
          {"heads", p.heads},
          {"sequences", p.batch},
          {"window", p.compress_block_size, 0, multiples(16, 128)},
          {"stride", p.compress_stride, 0, multiples(16, largest_stride)},
          {"tokens", input_extents(p).tokens(), of_16_bits}};
}

template <class Op>
double SuiteOf<Op>::multiply_adds(const Problem& p) {
  return static_cast<double>(std::size(Traits<Op>::outputs)) * elements(p, RowKind::window) *
         static_cast<double>(p.compress_block_size);
}

template <class Op>
std::int64_t SuiteOf<Op>::tensor_elements(const Problem& p) {
  return (input_extents(p).rows() + output_extents(p).rows()) * p.head_dim;
}

// Estimates the time (seconds, one core) of judging a case. The terms are the time to fill and
// check the tensors, and the time of all products in kernel and reference. The factors were fitted
// to one sweep of NsaCompressGrad.
template <class Op>
double SuiteOf<Op>::expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const bool is_exact = c.track == Track::exact || c.track == Track::exact_staged;
  const double once = 0.001 +
                      static_cast<double>(tensor_elements(c.problem)) * (is_exact ? 9e-8 : 1.8e-7) +
                      multiply_adds(c.problem) * 1e-9;
  // A case of a relation (statement about several runs) compares at least two runs of the kernel
  // and needs tolerances for every element of each run.
  return c.track == Track::relation ? 2.5 * once : once;
}

template <class Op>
std::span<const Reduction<Op>> SuiteOf<Op>::reductions() {
  static constexpr Reduction<Op> all[] = {
      {"fewer sequences", smaller_cases<Op, without_sequences>},
      {"shorter sequences", smaller_cases<Op, shorter_sequences>},
      {"fewer heads", smaller_cases<Op, fewer_heads>},
      {"smaller heads", smaller_cases<Op, smaller_heads>},
      {"sequences shortened one by one", smaller_cases<Op, shorter_single_sequences>},
      {"smaller windows", smaller_cases<Op, smaller_windows>}};
  return all;
}

template <class Op>
std::span<const std::string_view> SuiteOf<Op>::fields_of_reductions() {
  static constexpr std::string_view names[] = {
      "batch", "heads", "seq", "lengths", "head_dim", "compress_block_size", "compress_stride"};
  return names;
}

}  // namespace assay::conformance::compression
