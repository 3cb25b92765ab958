#include <iterator>
#include <stdexcept>
#include <utility>

#include "assay/conformance/operators/flash_attention_score.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/mutants/kill_table.hpp"
#include "checked.hpp"
#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {
namespace {

using conformance::Track;
using Op = spec::FlashAttentionScore;
using Case = conformance::Case<Op>;

/// Returns an entry point of the forward that has all inputs of the problem.
Op::EntryPoint entry_point_of(const Op::Problem& p) {
  using enum spec::FlashForwardEntryPoint;
  if (p.input_layout != spec::Layout::tnd) return p.has_sink() ? f3 : f2;
  if (p.has_sink()) return l5;
  return p.head_dim_rope > 0 ? l3 : l2;
}

/// Returns whether the documented requirements allow the call, and whether the command line of the
/// case can be parsed again.
bool is_legal(const Case& c) {
  if (refused_by(call_of(c)) != nullptr) return false;
  try {
    conformance::parse_case<Op>(conformance::case_words(command_line(c), Op::name));
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

/// Returns whether the start index is so large that the slope of the position bias is multiplied by
/// a large distance. The fp32 error of the scores is then visible in the weights. With a fused
/// multiply-add in exp, the error grows with the number of keys, so the case has few keys to keep
/// the tolerance finite.
bool has_far_keys(const Op::Problem& p) {
  return !p.q_start_idx.empty() && p.q_start_idx.front() > 10000;
}

/// Adds three cases for each type and each geometry (problem shape and memory layout) of the
/// gradient's mutants. The first has exact results, the second is judged by error bounds (track
/// bound), the third tests the argument checks (track arguments).
void add_geometries(std::vector<Case>& cases) {
  constexpr const char* profiles[] = {"normal", "peaked", "all_positive", "offset", "outliers"};
  std::size_t turn = 0;
  for (const Geometry& geometry : geometries())
    for (const spec::DType dtype : geometry.dtypes) {
      Case c = {.problem = geometry.problem,
                .entry_point = entry_point_of(geometry.problem),
                .inputs = geometry.inputs,
                .outputs = geometry.outputs,
                .patterns = {.mask = geometry.mask},
                .seed = turn + 1};
      c.problem.dtype = dtype;
      c.problem.softmax_in_layout = Op::Problem().softmax_in_layout;  // of an input of the gradient
      if (has_far_keys(c.problem)) c.problem.seq_q = c.problem.seq_kv = 4;
      if (!is_legal(c)) continue;
      for (const Track track : {Track::arguments, Track::exact, Track::bound}) {
        c.track = track;
        if (track == Track::bound) c.profile = profiles[turn++ % std::size(profiles)];
        cases.push_back(c);
      }
    }
}

/// Adds cases with an attention sink: grouped heads, a negative scale, fully masked rows, several
/// sequences.
void add_sinks(std::vector<Case>& cases) {
  Op::Problem p = {.batch = 2,
                   .heads_q = 4,
                   .heads_kv = 2,
                   .seq_q = 17,
                   .seq_kv = 24,
                   .head_dim = 32,
                   .head_dim_v = 32,
                   .scale_value = -0.5,
                   .sink = spec::SinkShape::per_head};
  const auto add = [&](const std::string& size, const auto& change) {
    Case c = {.problem = p, .patterns = {.sink_size = size}, .seed = cases.size()};
    change(c);
    c.entry_point = entry_point_of(c.problem);
    cases.push_back(std::move(c));
  };
  for (const spec::DType dtype : {spec::DType::bf16, spec::DType::fp32})
    add("near", [&](Case& c) { c.problem.dtype = dtype; });
  add("plus_10", [](Case& c) { c.problem.dtype = spec::DType::fp16; });
  add("mixed", [](Case& c) {
    c.problem.atten_mask = spec::MaskShape::ss;
    c.patterns.mask = "dead_rows";
  });
  add("near", [](Case& c) {
    c.problem.input_layout = spec::Layout::tnd;
    c.problem.batch = 3;
    c.problem.lengths_q = {9, 17, 4}, c.problem.lengths_kv = {24, 20, 0};
  });
}

}  // namespace

template <>
std::vector<Case> kill_cases() {
  std::vector<Case> cases;
  add_geometries(cases);
  add_sinks(cases);
  for (Case& c : conformance::sample<Op>({})) {
    if (c.violate.empty() && c.variant.empty()) continue;
    c.track = Track::arguments;
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace assay::mutants
