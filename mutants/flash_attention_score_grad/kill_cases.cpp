#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/kill_table.hpp"
#include "checked.hpp"
#include "flash_attention_score_grad/families.hpp"
#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {
namespace {

using conformance::Track;
using spec::DType;
using spec::FlashEntryPoint;
using spec::MaskShape;
using Case = conformance::Case<Op>;
using Problem = Op::Problem;

/// For each geometry (problem shape and memory layout) and type, adds two cases: one with exact
/// results, and one with random inputs, whose distribution of values changes from case to case.
void add_exact_and_bound(std::vector<Case>& cases) {
  constexpr const char* profiles[] = {"normal",   "peaked",    "all_positive", "offset",
                                      "outliers", "sparse_dy", "cancelling"};
  std::size_t turn = 0;
  for (const Geometry& geometry : geometries())
    for (const DType dtype : geometry.dtypes) {
      Case c = {.problem = geometry.problem,
                .entry_point = geometry.entry_point,
                .inputs = geometry.inputs,
                .outputs = geometry.outputs,
                .patterns = {.mask = geometry.mask},
                .seed = turn + 1};
      c.problem.dtype = dtype;
      c.track = Track::exact;
      cases.push_back(c);
      c.track = Track::bound;
      c.profile = profiles[turn++ % std::size(profiles)];
      cases.push_back(std::move(c));
    }
}

/// Adds cases that show whether P and dS are rounded to the staging type (16-bit type of
/// intermediate results). The cases have many channels, because only then dS has more significant
/// bits than the staging type.
void add_rounded_staging(std::vector<Case>& cases) {
  Problem wide = geometries().front().problem;
  wide.batch = 1, wide.heads_q = 2, wide.heads_kv = 1;
  wide.head_dim = wide.head_dim_v = 80;
  Problem causal = wide;
  causal.sparse_mode = 2;
  causal.atten_mask = MaskShape::compressed;
  for (const Problem& problem : {wide, causal})
    for (const DType dtype : {DType::bf16, DType::fp16}) {
      Case c = {.problem = problem, .track = Track::exact_staged, .seed = cases.size()};
      c.problem.dtype = dtype;
      cases.push_back(std::move(c));
    }
}

/// Adds cases with long sequences, so that some tiles contain no sampled row. Only sampled rows are
/// judged.
void add_sampled(std::vector<Case>& cases) {
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32}) {
    Case c = {.problem = {.dtype = dtype,
                          .heads_q = 2,
                          .heads_kv = 1,
                          .seq_q = 190,
                          .seq_kv = 180,
                          .head_dim = 16,
                          .head_dim_v = 16,
                          .scale_value = 0.25},
              .rows = 3,
              .seed = cases.size()};
    if (dtype == DType::fp16)
      c.problem.sparse_mode = 3, c.problem.atten_mask = MaskShape::compressed;
    cases.push_back(std::move(c));
  }
}

/// Adds two cases with a position bias: one with the very negative values that models use to hide
/// keys, and one with more than 32 heads (the size of a lookup table).
void add_biases(std::vector<Case>& cases) {
  Problem p = {.heads_q = 2,
               .heads_kv = 1,
               .seq_q = 40,
               .seq_kv = 150,
               .head_dim = 16,
               .head_dim_v = 16,
               .scale_value = 0.25,
               .pse_shift = spec::PseShape::bnss};
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    p.dtype = dtype;
    cases.push_back({.problem = p, .profile = "masking_pse", .seed = cases.size()});
  }
  p.heads_q = 40, p.heads_kv = 8, p.seq_q = 5, p.seq_kv = 7;
  cases.push_back({.problem = p, .seed = cases.size()});
}

/// Adds cases with an attention sink: grouped heads with sinks near, below and above the scores,
/// dropout, a bias, fully masked rows, packed sequences, and a sink so far above the scores that
/// e^(sink - score) overflows.
void add_sinks(std::vector<Case>& cases) {
  Problem p = {.batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 33,
               .seq_kv = 40,
               .head_dim = 64,
               .head_dim_v = 64,
               .scale_value = 0.125,
               .sink = spec::SinkShape::per_head};
  const auto add = [&](const std::string& size, const auto& change) {
    Case c = {.problem = p,
              .entry_point = FlashEntryPoint::g3,
              .patterns = {.sink_size = size},
              .seed = cases.size()};
    change(c);
    cases.push_back(std::move(c));
  };
  add("near", [](Case&) {});
  add("near", [](Case& c) {
    c.problem.dtype = DType::fp16;
    c.problem.keep_prob = 0.5, c.problem.drop_mask = spec::DropMask::exact;
  });
  add("plus_100", [](Case& c) { c.problem.seq_q = c.problem.seq_kv = 8; });
  add("mixed", [](Case& c) {
    c.problem.input_layout = spec::Layout::bsh;
    c.problem.scale_value = -0.5;
    c.problem.pse_shift = spec::PseShape::bnss;
  });
  add("near", [](Case& c) {
    c.problem.atten_mask = MaskShape::ss;
    c.patterns.mask = "dead_rows";
  });
  add("near", [](Case& c) {
    c.entry_point = FlashEntryPoint::u5;
    c.problem.input_layout = spec::Layout::tnd;
    c.problem.batch = 4;
    c.problem.lengths_q = {33, 5, 0, 17}, c.problem.lengths_kv = {40, 30, 9, 0};
    c.problem.softmax_in_layout = spec::SoftmaxInLayout::same_as_input;
    c.problem.statistics_order = spec::StatisticsOrder::tokens_first;
  });
}

/// Returns one legal call of every entry point. Other functions change these calls so that they
/// violate a requirement.
std::vector<Case> bases() {
  Problem padded = geometries().front().problem;
  padded.atten_mask = MaskShape::b_one_ss;
  Problem packed = padded;
  packed.input_layout = spec::Layout::tnd;
  packed.atten_mask = MaskShape::ss;
  Problem with_sink = padded;
  with_sink.sink = spec::SinkShape::per_head;
  Problem packed_with_sink = packed;
  packed_with_sink.sink = spec::SinkShape::per_head;
  Problem rope = packed;
  rope.head_dim_rope = 8;
  std::vector<Case> cases;
  for (const auto& [entry_point, problem] :
       {std::pair{FlashEntryPoint::g1, padded}, std::pair{FlashEntryPoint::g2, padded},
        std::pair{FlashEntryPoint::u1, packed}, std::pair{FlashEntryPoint::u2, packed},
        std::pair{FlashEntryPoint::u3, rope}, std::pair{FlashEntryPoint::u4, packed},
        std::pair{FlashEntryPoint::g3, padded}, std::pair{FlashEntryPoint::g3, with_sink},
        std::pair{FlashEntryPoint::u5, packed_with_sink}})
    cases.push_back({.problem = problem, .entry_point = entry_point, .track = Track::arguments});
  return cases;
}

/// For each listed violation of `requirement`: applies the violation to the call of `base`. If the
/// changed call then violates the requirement, adds it.
void add_violations(std::vector<Case>& cases, const Case& base,
                    const spec::Requirement<Op>& requirement) {
  for (const auto& violation : requirement.violations) {
    spec::Call<Op> call =
        call_of(base.problem, base.entry_point, base.product, base.inputs, base.outputs);
    violation.apply(call);
    if (requirement.holds(call)) continue;
    cases.push_back(base);
    cases.back().violate = std::string(requirement.id) + ":" + std::string(violation.name);
  }
}

/// Returns the calls for the mutants with faults in argument checks: legal calls, and one call for
/// each violation of a requirement that these mutants fail to detect.
std::vector<Case> argument_cases() {
  std::vector<Case> cases;
  for (const Geometry& geometry : geometries()) {
    Case c = {.problem = geometry.problem,
              .entry_point = geometry.entry_point,
              .inputs = geometry.inputs,
              .outputs = geometry.outputs,
              .track = Track::arguments};
    // Some geometries (problem shapes and memory layouts) exceed documented limits, so their calls
    // are not legal.
    if (refused_by(call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs)) == nullptr)
      cases.push_back(std::move(c));
  }
  for (const Case& base : bases())
    for (const auto* requirement : checked_requirements<Op>())
      add_violations(cases, base, *requirement);
  return cases;
}

/// Adds cases that run the kernel's forward and then its backward on the forward's results. Their
/// geometries have a mask, a position bias or dropout, where forward kernels often have faults.
void add_cascades(std::vector<Case>& cases) {
  for (const Geometry& geometry : geometries()) {
    const Problem& p = geometry.problem;
    if (p.atten_mask == MaskShape::absent && p.pse_shift == spec::PseShape::absent &&
        !p.has_dropout())
      continue;
    Case c = {.problem = p,
              .entry_point = geometry.entry_point,
              .inputs = geometry.inputs,
              .outputs = geometry.outputs,
              .track = Track::relation,
              .patterns = {.mask = geometry.mask},
              .relation = "cascade",
              .seed = cases.size()};
    c.problem.dtype = geometry.dtypes.front();
    cases.push_back(std::move(c));
  }
}

}  // namespace

template <>
std::vector<Case> kill_cases() {
  std::vector<Case> cases;
  add_exact_and_bound(cases);
  add_rounded_staging(cases);
  add_sampled(cases);
  add_biases(cases);
  add_cascades(cases);
  add_sinks(cases);
  std::ranges::move(argument_cases(), std::back_inserter(cases));
  return cases;
}

}  // namespace assay::mutants
