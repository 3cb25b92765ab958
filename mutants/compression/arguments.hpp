#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "checked.hpp"
#include "compression/kernel.hpp"

namespace assay::mutants::compress {

/// Returns kernels that differ in their argument checks: first two correct ones, then kernels with
/// a fault in the checks. For each check of `more`, a kernel has this additional check, which
/// refuses legal calls.
template <class Op, class Kernel>
std::vector<MutantOf<Op>> argument_mutants_of(const SummingPlan& plan,
                                              std::vector<ExtraCheck<Op>> more) {
  using Call = spec::Call<Op>;
  std::vector<MutantOf<Op>> all = {
      checking<Kernel, Op>("argument_checks", "a correct kernel that checks its arguments", plan,
                           {}),
      checking<Kernel, Op>("strict_checks",
                           "also refuses calls about which the documents are silent or contradict "
                           "each other",
                           plan, {.are_strict = true})};
  for (MutantOf<Op>& mutant : all) mutant.healthy = true;
  const std::vector<ExtraCheck<Op>> shared = {
      {"refuses_empty", "refuses legal calls with an empty sequence",
       "the cumulative lengths must strictly increase",
       [](const Call& c) {
         const auto& sums = c.parameters.act_seq_len;
         return !sums || sums->empty() ||
                (sums->front() > 0 && std::ranges::adjacent_find(*sums) == sums->end());
       }},
      {"refuses_rests", "refuses legal calls whose window size is not a multiple of the stride",
       "the window size must be a multiple of the stride", [](const Call& c) {
         return c.attributes.compress_stride == 0 ||
                c.attributes.compress_block_size % c.attributes.compress_stride == 0;
       }}};
  more.insert(more.begin(), shared.begin(), shared.end());
  std::ranges::move(careless<Kernel, Op>(plan, more), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants::compress
