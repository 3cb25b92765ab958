#include "selection/relations/lists.hpp"

#include <algorithm>
#include <utility>

#include "assay/spec/at.hpp"
#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {

using namespace selection;
namespace {

/// Runs the kernel separately with the first and with the second half of every list. Both runs get
/// the statistics and attention_out of the complete lists.
Experiment split_lists(const Trial& base) {
  const Op::Problem& p = base.problem;
  Op::Problem half = p;
  half.selected_block_count /= 2;
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  for (const bool after : {false, true}) {
    Trial part = base;
    part.problem = half;
    part.rows.topk_indices.clear();
    Trial whole = base;
    change_lists(whole, [&](List list, const spec::RowPosition&) {
      const List taken = after ? list.last(list.size() / 2) : list.first(list.size() / 2);
      part.rows.topk_indices.insert(part.rows.topk_indices.end(), taken.begin(), taken.end());
    });
    experiment.variants.push_back(std::move(part));
  }
  experiment.combine = [](const std::vector<OutputValues>& outputs) {
    return plus(outputs[0], outputs[1]);
  };
  return experiment;
}

/// Compares runs with and without the causal mask. For queries before the last key of the sequence,
/// the causal mask may hide listed keys, so attention_out_grad is set to zero there. All other
/// queries see the same keys in both runs.
Experiment drop_mask(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial masked = base;
  const spec::Extents rows = attention_out_extents(p);
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const spec::RowPosition place = rows.position(row);
    if (place.s + 1 >= p.length_kv(place.b)) continue;
    const auto first = masked.rows.attention_out_grad.begin() + row * rows.dim;
    std::fill(first, first + rows.dim, 0.0);
  }
  Trial open = masked;
  open.problem.sparse_mode = 0;
  open.problem.atten_mask = spec::SelectedMask::absent;
  return unchanged(std::move(masked), std::move(open));
}

bool can_split_lists(const Op::Problem& p) {
  return !is_masked(p) && p.selected_block_count % 2 == 0;
}
bool has_late_queries(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (is_masked(p) && p.length_q(b) >= p.length_kv(b)) return true;
  return false;
}

}  // namespace

std::span<const Relation> list_relations() {
  static constexpr Relation relations[] = {
      {"permute_slots", "The order of the blocks in a list changes nothing.", Agreement::bound,
       is_anything, "everything", permute_slots<Op>},
      {"permute_blocks",
       "If the blocks of keys are permuted, and the lists follow the permutation, dk and dv are "
       "permuted in the same way and dq does not change.",
       Agreement::bound, is_unmasked, "no mask", permute_blocks<Op>},
      {"copy_duplicates",
       "If a block is listed twice, its keys count twice, as if there were two equal blocks whose "
       "dk and dv are added.",
       Agreement::bound, is_unmasked, "no mask", copy_duplicates<Op>},
      {"split_lists",
       "If every list is split into two halves, with the same statistics, the gradients of the "
       "halves sum to the original gradients.",
       Agreement::bound, can_split_lists, "no mask, an even number of blocks", split_lists},
      {"halve_blocks",
       "If every block is split into two blocks of half the size, the lists contain the same keys.",
       Agreement::bound, can_halve_blocks, "at most 16 blocks, whose size is a multiple of 32 keys",
       halve_blocks<Op>},
      {"move_unseen",
       "If listed blocks after the position of a query are replaced by other blocks after it, "
       "nothing changes.",
       Agreement::bound, is_masked, "the causal mask", move_unseen<Op>},
      {"drop_mask",
       "For queries at or after the position of the last key the mask hides no key, so the results "
       "without a mask are the same.",
       Agreement::bound, has_late_queries, "the causal mask, equal numbers of queries and keys",
       drop_mask}};
  return relations;
}

}  // namespace assay::conformance::selected
