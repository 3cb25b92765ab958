#pragma once

#include <cstdint>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/operators/selection.hpp"

/// Block-selected attention is attention of packed sequences in which every query attends to the
/// keys of its list; a key that is listed twice counts twice. So the error bounds of attention are
/// valid for block-selected attention, too.
namespace assay::conformance::selection {

using Problem = spec::SelectionProblem;

/// Returns the number of keys in the list of a query.
inline std::int64_t listed_keys(const Problem& p) {
  return p.selected_block_size * p.selected_block_count;
}

/// Returns the number of pairs of a query row and an entry of its list, masked ones included.
double entries(const Problem& problem);

/// Returns whether the causal mask applies.
inline bool is_masked(const Problem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}

/// Returns the attention problem, without a mask: ListPattern defines which query attends to which
/// key.
spec::AttentionProblem dense_problem(const Problem& problem);
/// Returns a case of that problem, with contiguous tensors.
template <class CaseType>
AttentionCase dense_case(const CaseType& c) {
  return {.problem = dense_problem(c.problem),
          .entry_point = spec::FlashEntryPoint::u4,
          .product = c.product,
          .track = c.track,
          .rows = c.rows,
          .seed = c.seed};
}

/// Returns a scale_value that the exact case accepts. With a mask it is positive, since the forward
/// applies the mask before it scales.
double exact_scale(const Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance::selection
