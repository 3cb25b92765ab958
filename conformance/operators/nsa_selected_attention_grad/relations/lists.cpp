#include <algorithm>
#include <utility>

#include "assay/spec/at.hpp"
#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {
namespace {

using List = std::span<std::int64_t>;

using spec::at;

/// Calls change(list, position) for the list of every query and key head.
template <class Change>
void change_lists(Trial& trial, Change&& change) {
  const spec::Extents lists = topk_extents(trial.problem);
  for (std::int64_t row = 0; row < lists.rows(); ++row)
    change(List(trial.rows.topk_indices).subspan(at(row * lists.dim), at(lists.dim)),
           lists.position(row));
}

std::int64_t blocks_of(const Op::Problem& p, std::int64_t b) {
  return p.length_kv(b) / p.selected_block_size;
}

Experiment permute_slots(const Trial& base) {
  Trial other = base;
  change_lists(other, [](List list, const spec::RowPosition& row) {
    std::ranges::reverse(list);
    std::ranges::rotate(list, list.begin() + row.s % std::ssize(list));
  });
  return unchanged(base, std::move(other));
}

/// Reverses the order of the blocks of every sequence.
Experiment permute_blocks(const Trial& base) {
  const Op::Problem& p = base.problem;
  const Origin key = [p](const spec::RowPosition& row) {
    const std::int64_t size = p.selected_block_size, block = row.s / size;
    return spec::RowPosition{row.b, row.n, (blocks_of(p, row.b) - 1 - block) * size + row.s % size};
  };
  Experiment experiment = rearranging(base, {{p, {same_row, key}}});
  change_lists(experiment.variants[0], [&](List list, const spec::RowPosition& row) {
    for (std::int64_t& block : list) block = blocks_of(p, row.b) - 1 - block;
  });
  return experiment;
}

/// Makes copies of the keys of every sequence, as many as the largest number of times that a list
/// names a block. The r-th entry for a block is changed to name the r-th copy.
Experiment copy_duplicates(const Trial& base) {
  const Op::Problem& p = base.problem;
  std::int64_t copies = 1;
  Trial ranks = base;
  change_lists(ranks, [&](List list, const spec::RowPosition& row) {
    const std::vector<std::int64_t> named(list.begin(), list.end());
    for (std::size_t k = 0; k < named.size(); ++k) {
      const std::int64_t rank =
          std::count(named.begin(), named.begin() + static_cast<std::ptrdiff_t>(k), named[k]);
      copies = std::max(copies, rank + 1);
      list[k] += rank * blocks_of(p, row.b);
    }
  });
  Op::Problem repeated = p;
  repeated.seq_kv *= copies;
  for (std::int64_t& length : repeated.lengths_kv) length *= copies;
  const Origin key = [p](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n, row.s % p.length_kv(row.b)};
  };
  Experiment experiment = rearranging(base, {{repeated, {same_row, key}}});
  experiment.variants[0].rows.topk_indices = std::move(ranks.rows.topk_indices);
  return experiment;
}

/// Runs the first half of every list and the second half separately. Both runs get the statistics
/// and attention_out of the whole list.
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

/// Uses twice as many blocks of half the size.
Experiment halve_blocks(const Trial& base) {
  Trial halved = base;
  halved.problem.selected_block_size /= 2;
  halved.problem.selected_block_count *= 2;
  halved.rows.topk_indices.clear();
  for (const std::int64_t block : base.rows.topk_indices)
    halved.rows.topk_indices.insert(halved.rows.topk_indices.end(), {2 * block, 2 * block + 1});
  return unchanged(base, std::move(halved));
}

/// Replaces each listed block that begins after the query by the last block of the sequence. The
/// mask hides both blocks from the query.
Experiment move_unseen(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial other = base;
  change_lists(other, [&](List list, const spec::RowPosition& row) {
    for (std::int64_t& block : list)
      if (block * p.selected_block_size > row.s) block = blocks_of(p, row.b) - 1;
  });
  return unchanged(base, std::move(other));
}

/// Compares runs with and without the mask. A query at the position of the last key, or after it,
/// sees all listed keys in both runs. The attention_out_grad of all other queries is set to zero.
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
bool can_halve_blocks(const Op::Problem& p) {
  return p.selected_block_size % 32 == 0 && p.selected_block_count <= 16;
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
       is_anything, "everything", permute_slots},
      {"permute_blocks",
       "Permuting blocks of keys, in the lists too, permutes dk and dv in the same way and does "
       "not change dq.",
       Agreement::bound, is_unmasked, "no mask", permute_blocks},
      {"copy_duplicates",
       "If a block is listed twice, its keys count twice, as if there were two equal blocks whose "
       "dk and dv are added.",
       Agreement::bound, is_unmasked, "no mask", copy_duplicates},
      {"split_lists",
       "Over the same statistics, the gradients of the halves of all lists add up to those of the "
       "lists.",
       Agreement::bound, can_split_lists, "no mask, an even number of blocks", split_lists},
      {"halve_blocks", "Twice as many blocks of half the size hold the same keys.",
       Agreement::bound, can_halve_blocks, "at most 16 blocks, whose size is a multiple of 32 keys",
       halve_blocks},
      {"move_unseen",
       "If listed blocks after a query are replaced by other blocks after it, nothing changes.",
       Agreement::bound, is_masked, "the causal mask", move_unseen},
      {"drop_mask",
       "For queries at or after the position of the last key the mask hides no key, so the results "
       "without a mask are the same.",
       Agreement::bound, has_late_queries, "the causal mask, as many queries as keys", drop_mask}};
  return relations;
}

}  // namespace assay::conformance::selected
