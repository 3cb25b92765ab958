#pragma once

#include <cstdint>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/operators/selection.hpp"

/// In block-selected attention every query attends to the keys of its list. The reference computes
/// it as attention of packed sequences; a key that is listed twice counts twice. The error bounds
/// of attention are therefore valid here, too.
namespace assay::conformance::selection {

using Problem = spec::SelectionProblem;

/// Returns the number of keys in the list of a query.
inline std::int64_t listed_keys(const Problem& p) {
  return p.selected_block_size * p.selected_block_count;
}

/// Returns the number of pairs of a query row and an entry of its list. Masked pairs count, too.
double entries(const Problem& problem);

/// Returns whether the problem uses the causal mask.
inline bool is_masked(const Problem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}

/// Returns the corresponding problem of ordinary attention, without a mask. A ListPattern then
/// defines the keys to which each query attends.
spec::AttentionProblem dense_problem(const Problem& problem);
/// Returns the corresponding test case of ordinary attention, with contiguous tensors.
template <class CaseType>
AttentionCase dense_case(const CaseType& c) {
  return {.problem = dense_problem(c.problem),
          .entry_point = spec::FlashEntryPoint::u4,
          .product = c.product,
          .track = c.track,
          .rows = c.rows,
          .seed = c.seed};
}

/// Returns a scale_value that allows an exact case (a test case in which all sums are exact). With
/// a mask the value is positive, because the forward applies the mask before it scales the scores.
double exact_scale(const Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance::selection
