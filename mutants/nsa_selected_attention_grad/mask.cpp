#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// Returns the block that contains the query's own position.
std::int64_t own_block(const SelectedWork& w, Query q) {
  return q.i / w.problem.selected_block_size;
}

struct MaskInverted : Kernel {
  bool is_causal(const SelectedWork& w) const override { return !Kernel::is_causal(w); }
};

struct FutureBlocksSeen : Kernel {
  bool sees(const SelectedWork& w, const Pair& pair) const override {
    return Kernel::sees(w, pair) || block(w, pair.q, pair.slot) > own_block(w, pair.q);
  }
};

/// Fault: in blocks after the query's own block, masks all keys except the first key of the block.
struct FirstKeyOfFutureBlocks : Kernel {
  bool sees(const SelectedWork& w, const Pair& pair) const override {
    return Kernel::sees(w, pair) || pair.j == 0;
  }
};

/// Fault: if a list contains the query's own block several times, masks the keys after the query
/// only for the last of these entries.
struct SecondDiagonalSeen : Kernel {
  bool sees(const SelectedWork& w, const Pair& pair) const override {
    if (Kernel::sees(w, pair)) return true;
    if (block(w, pair.q, pair.slot) != own_block(w, pair.q)) return false;
    for (std::int64_t slot = pair.slot + 1; slot < slots(w); ++slot)
      if (block(w, pair.q, slot) == own_block(w, pair.q)) return true;
    return false;
  }
};

/// Fault: if a list can select more keys than the query has earlier keys, the kernel reads the
/// first blocks in natural order, but adds the gradients to the listed blocks.
struct NaturalOrderWhileShort : Kernel {
  std::int64_t position(const SelectedWork& w, const Pair& pair) const override {
    return gathered(w, pair) * w.problem.selected_block_size + pair.j;
  }
  spec::RowPosition scattered_row(const SelectedWork& w, const Pair& pair) const override {
    return {pair.q.b, kv_head(w, pair.q.n), Kernel::position(w, pair)};
  }

 private:
  std::int64_t gathered(const SelectedWork& w, const Pair& pair) const {
    const Op::Problem& p = w.problem;
    const bool is_short = pair.q.i + 1 < p.selected_block_size * p.selected_block_count;
    return is_causal(w) && is_short ? pair.slot : block(w, pair.q, pair.slot);
  }
};

}  // namespace

std::vector<Mutant> mask_mutants() {
  return {
      injected<MaskInverted>("mask_inverted",
                             "masks later keys in mode 0, and does not mask them in mode 2"),
      injected<FutureBlocksSeen>("future_blocks_seen",
                                 "queries also attend to listed blocks after their position"),
      injected<FirstKeyOfFutureBlocks>(
          "first_key_of_future_blocks",
          "queries also attend to the first key of listed blocks after their position",
          ascend_like),
      injected<SecondDiagonalSeen>(
          "second_diagonal_seen",
          "the query's own block is masked only in the last entry that names it"),
      injected<NaturalOrderWhileShort>(
          "natural_order_while_short",
          "early queries gather the first blocks, not the listed ones"),
  };
}

}  // namespace assay::mutants::selected
