#pragma once

#include <vector>

#include "attention/plan/choices.hpp"
#include "case/lengths.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"
#include "selection/problem.hpp"
#include "selection/traits.hpp"

namespace assay::conformance::selection {

/// Returns legal calls that together cover every condition of every requirement.
template <class Op>
std::vector<Case<Op>> legal_calls() {
  std::vector<Case<Op>> calls;
  for (const bool ragged : {false, true})
    for (const std::int64_t mode : {0, 2})
      for (const auto mask : {spec::SelectedMask::absent, spec::SelectedMask::compressed}) {
        const bool is_open = mode == 2 && mask == spec::SelectedMask::absent;
        if (is_open && !Traits<Op>::means_mode_without_mask) continue;
        Case<Op> c{.track = Track::arguments};
        Problem& p = c.problem;
        p.dtype = calls.size() % 2 == 0 ? spec::DType::bf16 : spec::DType::fp16;
        p.heads_q = 4;
        p.heads_kv = 2;
        p.selected_block_size = calls.size() % 3 == 0 ? 64 : 32;
        p.selected_block_count = 3;
        p.head_dim = Traits<Op>::may_widen_value && calls.size() % 3 == 1 ? 128 : 192;
        p.head_dim_v = Traits<Op>::may_widen_value && calls.size() % 3 == 2 ? 192 : 128;
        p.scale_value = attention::ordinary_scale(p.head_dim);
        p.sparse_mode = mode;
        p.atten_mask = mask;
        const std::int64_t spare = Traits<Op>::may_list_all_keys ? 0 : p.selected_block_size;
        const std::int64_t keys = listed_keys(p) + spare;
        if (ragged)
          set_lengths(p, {24, 7, 16}, {keys + p.selected_block_size, keys, keys});
        else
          set_lengths(p, {24, 24}, {keys, keys});
        calls.push_back(c);
      }
  return calls;
}

/// Returns illegal calls for the requirements that a kernel must check. For each way to break such
/// a requirement, there is one call. The call breaks this requirement and the requirements that
/// follow from it, but no other. Errors: std::logic_error with the name of a requirement for which
/// no such call was found.
template <class Op>
std::vector<Case<Op>> violation_cases() {
  return breaking_cases<Op>({legal_calls<Op>()});
}

/// Returns numerically judged cases for the variants of requirements. A variant is a legal way to
/// make a call. Each variant gets a case for every entry point with a documentation page that
/// states the requirement, and one case for some other entry point.
template <class Op>
std::vector<Case<Op>> variant_cases() {
  return varied_cases<Op>({legal_calls<Op>()});
}

}  // namespace assay::conformance::selection
