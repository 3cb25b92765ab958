#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

bool is_listed(const std::vector<std::int64_t>& blocks, std::int64_t block) {
  return std::ranges::find(blocks, block) != blocks.end();
}

/// Returns the blocks that the entries [first, last) of a query's list name.
std::vector<std::int64_t> blocks_of(const Work& w, std::int64_t kv, Query q, std::int64_t first,
                                    std::int64_t last) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t slot = first; slot < last; ++slot)
    blocks.push_back(
        static_cast<std::int64_t>(w.lists.row(q.b, kv, q.i)[static_cast<std::size_t>(slot)]));
  return blocks;
}

/// If two entries name the same block, both read its sums before either of them writes the new
/// sums.
struct LostUpdate : Kernel {
  using Kernel::Kernel;
  bool collects(const Work& w, Gradient which, const Pair& pair) const override {
    if (which == Gradient::dq) return true;
    const auto after =
        blocks_of(w, list_head(w, pair.q.n), pair.q, pair.slot + 1, w.problem.selected_block_count);
    return !is_listed(after, block(w, pair.q, pair.slot));
  }
};

struct DuplicatesOnce : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    const auto before = blocks_of(w, list_head(w, pair.q.n), pair.q, 0, pair.slot);
    return Kernel::sees(w, pair) && !is_listed(before, block(w, pair.q, pair.slot));
  }
};

struct LastSlotDropped : Kernel {
  using Kernel::Kernel;
  std::int64_t slots(const Work& w) const override {
    return std::max<std::int64_t>(1, w.problem.selected_block_count - 1);
  }
};

struct FirstSlotTwice : Kernel {
  using Kernel::Kernel;
  std::vector<Entry> entries(const Work& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    for (std::int64_t token = 0; token < tokens(w, b); ++token) all.push_back({token, 0});
    return all;
  }
};

struct LastKeyOfBlockDropped : Kernel {
  using Kernel::Kernel;
  std::int64_t keys_of_block(const Work& w) const override {
    return w.problem.selected_block_size - 1;
  }
};

/// Counts block numbers from the first key of the packed tensor, not of the sequence.
struct BlocksOverAllTokens : Kernel {
  using Kernel::Kernel;
  spec::RowPosition key_row(const Work& w, const Pair& pair) const override {
    const spec::Extents& keys = w.key.extents;
    const std::int64_t token = position(w, pair);
    std::int64_t b = 0;
    while (token >= keys.start(b + 1)) ++b;
    return {b, kv_head(w, pair.q.n), token - keys.start(b)};
  }
};

struct NextBlock : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    const std::int64_t blocks = w.problem.length_kv(q.b) / w.problem.selected_block_size;
    return std::min(Kernel::block(w, q, slot) + 1, blocks - 1);
  }
};

struct ListsOfFirstHead : Kernel {
  using Kernel::Kernel;
  std::int64_t list_head(const Work&, std::int64_t) const override { return 0; }
};

/// Reads the keys that the lists of one head name, but adds their gradients to the keys that the
/// lists of another head name.
struct ScatteredByFirstHead : Kernel {
  using Kernel::Kernel;
  spec::RowPosition scattered_row(const Work& w, const Pair& pair) const override {
    const std::int64_t named = blocks_of(w, 0, pair.q, pair.slot, pair.slot + 1).front();
    return {pair.q.b, kv_head(w, pair.q.n), named * w.problem.selected_block_size + pair.j};
  }
};

struct ListOfFirstToken : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, {q.b, q.n, 0}, slot);
  }
};

/// Reads the lists as if the head axis followed the entry axis.
struct ListAxesSwapped : Kernel {
  using Kernel::Kernel;
  Work load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    Work w = Kernel::load(p, inputs);
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

/// Reads the lists as if contiguous; clamps invalid block numbers to the valid range.
struct ListStridesIgnored : Kernel {
  using Kernel::Kernel;
  Work load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    Work w = Kernel::load(p, inputs);
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

/// Omits the second half of every list.
struct SecondHalfLeftOut : Kernel {
  using Kernel::Kernel;
  std::int64_t slots(const Work& w) const override {
    return (w.problem.selected_block_count + 1) / 2;
  }
};

/// Limits every block to 64 keys.
struct BlocksOf64 : Kernel {
  using Kernel::Kernel;
  std::int64_t keys_of_block(const Work& w) const override {
    return std::min<std::int64_t>(64, w.problem.selected_block_size);
  }
};

struct BlocksIn8Bits : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, q, slot) & 0xff;
  }
};

}  // namespace

std::vector<Mutant> list_mutants() {
  return {
      planted<LostUpdate>("lost_update_on_duplicates",
                          "if a list names a block twice, only the last entry adds to dk and dv"),
      planted<DuplicatesOnce>("duplicates_once", "a block listed twice counts once", ascend_like),
      planted<LastSlotDropped>("last_slot_dropped", "the last entry of a list is omitted"),
      planted<FirstSlotTwice>("first_slot_twice", "the block of the first entry counts twice"),
      planted<LastKeyOfBlockDropped>("last_key_of_block_dropped",
                                     "the last key of a block is omitted", ascend_like),
      planted<BlocksOverAllTokens>("blocks_over_all_tokens",
                                   "block numbers count from the first key of all sequences"),
      planted<NextBlock>("next_block", "reads the block after the listed one"),
      planted<ListsOfFirstHead>("lists_of_first_head", "all heads use the lists of head 0",
                                ascend_like),
      planted<ScatteredByFirstHead>("scattered_by_first_head",
                                    "dk and dv are scattered by the lists of head 0"),
      planted<ListOfFirstToken>("list_of_first_token",
                                "all tokens of a sequence use the list of its first token"),
      planted<ListAxesSwapped>("list_axes_swapped", "reads the lists as (T1, count, N2)"),
      planted<ListStridesIgnored>("list_strides_ignored",
                                  "reads the lists as if they were "
                                  "contiguous",
                                  ascend_like),
      planted<SecondHalfLeftOut>("second_half_left_out", "the second half of a list is omitted"),
      planted<BlocksOf64>("blocks_of_64", "keys of a block after the first 64 are ignored"),
      planted<BlocksIn8Bits>("blocks_in_8_bits", "block numbers are read as 8 bits"),
  };
}

}  // namespace assay::mutants::selected
