#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

bool is_listed(const std::vector<std::int64_t>& blocks, std::int64_t block) {
  return std::ranges::find(blocks, block) != blocks.end();
}

/// Returns the block numbers in entries `first` to `last` - 1 of a query's list.
std::vector<std::int64_t> blocks_of(const SelectedWork& w, std::int64_t kv, Query q,
                                    std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t slot = first; slot < last; ++slot)
    blocks.push_back(
        static_cast<std::int64_t>(w.lists.row(q.b, kv, q.i)[static_cast<std::size_t>(slot)]));
  return blocks;
}

/// Fault (lost update): if two entries of a list contain the same block number, both read the sums
/// of the block before one of them writes its result. One addition is then lost.
struct LostUpdate : Kernel {
  bool collects(const SelectedWork& w, Gradient which, const Pair& pair) const override {
    if (which == Gradient::dq) return true;
    const auto after =
        blocks_of(w, list_head(w, pair.q.n), pair.q, pair.slot + 1, w.problem.selected_block_count);
    return !is_listed(after, block(w, pair.q, pair.slot));
  }
};

struct FirstSlotTwice : Kernel {
  std::vector<Entry> entries(const SelectedWork& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    for (std::int64_t token = 0; token < tokens(w, b); ++token) all.push_back({token, 0});
    return all;
  }
};

/// Fault: reads the keys in the list of the pair's own head, but adds their gradients to the keys
/// in the list of the first head.
struct ScatteredByFirstHead : Kernel {
  spec::RowPosition scattered_row(const SelectedWork& w, const Pair& pair) const override {
    const std::int64_t named = blocks_of(w, 0, pair.q, pair.slot, pair.slot + 1).front();
    return {pair.q.b, kv_head(w, pair.q.n), named * w.problem.selected_block_size + pair.j};
  }
};

/// Fault: reads the block lists as if the head axis followed the entry axis.
struct ListAxesSwapped : Kernel {
  SelectedWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SelectedWork w = Kernel::load(p, inputs);
    const DenseRows right = w.lists;
    const spec::Extents& e = right.extents;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      for (std::int64_t i = 0; i < e.dim; ++i) {
        const std::int64_t number = i * e.heads + n;
        w.lists.row(b, n, s)[static_cast<std::size_t>(i)] =
            right.row(b, number / e.dim, s)[static_cast<std::size_t>(number % e.dim)];
      }
    });
    return w;
  }
};

/// Fault: reads the block lists as if they were contiguous. Clamps invalid block numbers to the
/// valid range.
struct ListStridesIgnored : Kernel {
  SelectedWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SelectedWork w = Kernel::load(p, inputs);
    spec::Tensor packed = inputs.topk_indices;
    packed.strides = spec::contiguous_strides(packed.shape);
    w.lists = read(packed, w.lists.extents);
    visit_rows(w.lists.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      const auto last = static_cast<float>(p.length_kv(b) / p.selected_block_size - 1);
      for (float& block : w.lists.row(b, n, s)) block = std::clamp(block, 0.0f, last);
    });
    return w;
  }
};

}  // namespace

std::vector<Mutant> list_mutants() {
  std::vector<Mutant> all = {
      injected<LostUpdate>("lost_update_on_duplicates",
                           "if a list names a block twice, only the last entry adds to dk and dv"),
      injected<FirstSlotTwice>("first_slot_twice", "the block of the first entry counts twice"),
      injected<ScatteredByFirstHead>("scattered_by_first_head",
                                     "dk and dv are scattered with the lists of head 0"),
      injected<ListAxesSwapped>("list_axes_swapped", "reads the lists as (T1, count, N2)"),
      injected<ListStridesIgnored>("list_strides_ignored",
                                   "reads the lists as if they were "
                                   "contiguous",
                                   ascend_like),
  };
  const auto shared = selection::Faults<Op, Kernel>::in_numbers();
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace assay::mutants::selected
