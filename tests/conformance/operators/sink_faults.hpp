#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::conformance::testing {

/// Expects that every mutant (kernel with an injected fault) with "sink" in its name fails in at
/// least one of these cases, and that every correct variant passes all of them. Returns the number
/// of such mutants.
template <class Op>
int expect_sink_faults_found(std::span<const Case<Op>> cases) {
  int faults = 0;
  for (const auto& mutant : mutants::mutants<Op>()) {
    if (mutant.name.find("sink") == std::string::npos && !mutant.healthy) continue;
    std::string failing;
    for (const Case<Op>& c : cases) {
      const auto kernel = mutant.make();
      const CaseReport report = judge_case(c, *kernel);
      if (are_numbers_wrong(report.verdict)) failing = report.command_line;
    }
    EXPECT_EQ(failing.empty(), mutant.healthy) << mutant.name << ": " << failing;
    faults += mutant.healthy ? 0 : 1;
  }
  return faults;
}

/// Returns what a case has in addition to a sink.
template <class Op>
std::set<std::string> features_of(const Case<Op>& c) {
  const auto& p = c.problem;
  const bool is_mask_open = p.atten_mask == spec::MaskShape::absent;
  const bool has_masked_rows = c.patterns.mask == "dead_rows";
  const bool is_causal = p.sparse_mode == 3 && p.seq_kv >= p.seq_q && p.lengths_q.empty();
  const std::pair<const char*, bool> all[] = {
      {"dropout", p.has_dropout()},
      {"causal mask", is_causal},
      {"groups", p.heads_q != p.heads_kv},
      {"sequences", p.batch > 1},
      {"masked rows", has_masked_rows},
      {"other mask", !is_mask_open && !is_causal && !has_masked_rows},
      {"bias", p.pse_shift != spec::PseShape::absent},
      {"ropes", p.head_dim_rope > 0},
      {"padding", p.padding_q + p.padding_kv > 0},
      {"views", c.inputs != spec::Striding::contiguous || c.outputs != spec::Striding::contiguous},
      {"statistics", p.softmax_in_layout != decltype(p){}.softmax_in_layout}};
  std::set<std::string> found;
  for (const auto& [name, has] : all)
    if (has) found.insert(name);
  return found;
}

/// Expects that each entry point has numeric cases with a sink and nothing else but one feature.
/// A fault in the combination of both is then not hidden by a third.
template <class Op>
void expect_one_feature_at_a_time(std::span<const std::string_view> entry_points) {
  std::map<std::string_view, std::set<std::set<std::string>>> planned;
  for (const Case<Op>& c : sample<Op>({}))
    if (c.problem.has_sink() && c.track == Track::bound && c.violate.empty() && c.variant.empty())
      planned[spec::to_string(c.entry_point)].insert(features_of(c));
  for (const std::string_view entry_point : entry_points)
    for (const std::string feature :
         {"dropout", "causal mask", "groups", "sequences", "masked rows"}) {
      // The page of l5 excludes masks that mask all keys of a query.
      if (entry_point == "l5" && feature == "masked rows") continue;
      EXPECT_TRUE(planned[entry_point].contains({feature})) << entry_point << ' ' << feature;
    }
}

}  // namespace assay::conformance::testing
