#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// The block that holds the query's own position.
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

/// A key's number in the list is taken for its position.
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

/// Starts to skip with the second key of a block.
struct FirstKeyOfFutureBlocks : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, const Pair& pair) const override {
    return Kernel::sees(w, pair) || pair.j == 0;
  }
};

/// Hides the tail of the own block in the last entry that names it.
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

/// A query that has fewer keys behind it than its list names gathers the first blocks in their
/// natural order, and scatters by the list.
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
      planted<MaskIgnored>("selected_mask_ignored", "sparse mode 2 hides nothing", ascend_like),
      planted<MaskInEveryMode>("mask_in_every_mode", "a mask that is passed acts in mode 0, too"),
      planted<MaskInverted>("mask_inverted", "hides the future in the other cases"),
      planted<MaskBottomRight>("selected_mask_bottom_right",
                               "the diagonal ends in the lower right corner"),
      planted<MaskHidesDiagonal>("mask_hides_diagonal", "a query does not see its own position",
                                 ascend_like),
      planted<MaskOneTooFar>("mask_one_too_far", "a query sees one key behind its position"),
      planted<PositionsOverAllTokens>("positions_over_all_tokens",
                                      "a query's position counts from the first of all sequences"),
      planted<SlotsForPositions>("slots_for_positions",
                                 "a key's number in the list is taken for its position"),
      planted<DiagonalBlockDropped>("diagonal_block_dropped",
                                    "the block that holds the query's position is left out",
                                    ascend_like),
      planted<DiagonalBlockWhole>("diagonal_block_whole",
                                  "the block that holds the query's position is seen wholly"),
      planted<FutureBlocksSeen>("future_blocks_seen", "blocks behind the query are seen"),
      planted<FirstKeyOfFutureBlocks>("first_key_of_future_blocks",
                                      "of a block behind the query the first key is seen",
                                      ascend_like),
      planted<SecondDiagonalSeen>("second_diagonal_seen",
                                  "the own block is masked in the last entry that names it only"),
      planted<NaturalOrderWhileShort>(
          "natural_order_while_short",
          "early queries gather the first blocks, whatever their list names"),
  };
}

}  // namespace assay::mutants::selected
