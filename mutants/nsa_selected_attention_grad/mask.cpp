#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// Returns the block that contains the query's own position.
std::int64_t own_block(const Work& w, Query q) { return q.i / w.problem.selected_block_size; }

struct MaskIgnored : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work&) const override { return false; }
};

struct MaskInEveryMode : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work& w) const override {
    return w.problem.atten_mask != spec::SelectedMask::absent;
  }
};

struct MaskInverted : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work& w) const override { return !Kernel::is_causal(w); }
};

struct MaskBottomRight : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work& w, Query q) const override {
    return q.i + w.problem.length_kv(q.b) - w.problem.length_q(q.b);
  }
};

struct MaskHidesDiagonal : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work&, Query q) const override { return q.i - 1; }
};

struct MaskOneTooFar : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work&, Query q) const override { return q.i + 1; }
};

struct PositionsOverAllTokens : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work& w, Query q) const override {
    return w.query.extents.start(q.b) + q.i;
  }
};

/// Uses a key's index in the list as its position.
struct SlotsForPositions : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return !is_causal(w) ||
           pair.slot * w.problem.selected_block_size + pair.j <= last_seen(w, pair.q);
  }
};

struct DiagonalBlockDropped : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return !is_causal(w) || block(w, pair.q, pair.slot) < own_block(w, pair.q);
  }
};

struct DiagonalBlockWhole : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return !is_causal(w) || block(w, pair.q, pair.slot) <= own_block(w, pair.q);
  }
};

struct FutureBlocksSeen : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return Kernel::sees(w, pair) || block(w, pair.q, pair.slot) > own_block(w, pair.q);
  }
};

/// In a block after the query, masks all keys except the first.
struct FirstKeyOfFutureBlocks : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return Kernel::sees(w, pair) || pair.j == 0;
  }
};

/// Masks the keys after the query in the query's own block only for the last entry that names this
/// block.
struct SecondDiagonalSeen : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    if (Kernel::sees(w, pair)) return true;
    if (block(w, pair.q, pair.slot) != own_block(w, pair.q)) return false;
    for (std::int64_t slot = pair.slot + 1; slot < slots(w); ++slot)
      if (block(w, pair.q, slot) == own_block(w, pair.q)) return true;
    return false;
  }
};

/// Queries with fewer earlier keys than their list has room for read the first blocks in natural
/// order, but add the gradients to the listed blocks.
struct NaturalOrderWhileShort : Kernel {
  using Kernel::Kernel;
  std::int64_t position(const Work& w, const Pair& pair) const override {
    return gathered(w, pair) * w.problem.selected_block_size + pair.j;
  }
  spec::RowPosition scattered_row(const Work& w, const Pair& pair) const override {
    return {pair.q.b, kv_head(w, pair.q.n), Kernel::position(w, pair)};
  }

 private:
  std::int64_t gathered(const Work& w, const Pair& pair) const {
    const Op::Problem& p = w.problem;
    const bool is_short = pair.q.i + 1 < p.selected_block_size * p.selected_block_count;
    return is_causal(w) && is_short ? pair.slot : block(w, pair.q, pair.slot);
  }
};

}  // namespace

std::vector<Mutant> mask_mutants() {
  return {
      planted<MaskIgnored>("selected_mask_ignored", "sparse mode 2 masks nothing", ascend_like),
      planted<MaskInEveryMode>("mask_in_every_mode", "a mask is also applied in mode 0"),
      planted<MaskInverted>("mask_inverted", "masks future keys in the opposite cases"),
      planted<MaskBottomRight>("selected_mask_bottom_right",
                               "the diagonal ends in the lower right corner"),
      planted<MaskHidesDiagonal>("mask_hides_diagonal", "a query does not see its own position",
                                 ascend_like),
      planted<MaskOneTooFar>("mask_one_too_far", "a query sees one key after its position"),
      planted<PositionsOverAllTokens>(
          "positions_over_all_tokens",
          "a query's position counts from the first token of all sequences"),
      planted<SlotsForPositions>("slots_for_positions",
                                 "a key's index in the list is used as its position"),
      planted<DiagonalBlockDropped>("diagonal_block_dropped",
                                    "the block that holds the query's position is omitted",
                                    ascend_like),
      planted<DiagonalBlockWhole>("diagonal_block_whole",
                                  "the block that holds the query's position is not masked"),
      planted<FutureBlocksSeen>("future_blocks_seen", "blocks after the query are seen"),
      planted<FirstKeyOfFutureBlocks>("first_key_of_future_blocks",
                                      "the first key of a block after the query is seen",
                                      ascend_like),
      planted<SecondDiagonalSeen>(
          "second_diagonal_seen",
          "the query's own block is masked only in the last entry that names it"),
      planted<NaturalOrderWhileShort>("natural_order_while_short",
                                      "early queries gather the first blocks, not the listed ones"),
  };
}

}  // namespace assay::mutants::selected
