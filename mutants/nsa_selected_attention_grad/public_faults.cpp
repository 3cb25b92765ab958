#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// Fault: with groups of 32 heads, a tile of 64 rows contains two queries, and both queries use the
/// list of the first one.
template <std::int64_t group>
struct ListOfFirstQueryOfTile : Kernel {
  std::int64_t block(const SelectedWork& w, Query q, std::int64_t slot) const override {
    const bool shares = w.problem.group() == group;
    return Kernel::block(w, shares ? Query{q.b, q.n, q.i / 2 * 2} : q, slot);
  }
};

/// Fault: reads the partial sums of dv at a wrong offset from the second block of 128 channels on,
/// because it assumes a padded number of tokens. The partial sums of dk, stored after those of dv,
/// are then read at wrong offsets, too.
struct PartialsByPaddedTokens : Kernel {
  void adjust(SelectedWork& w) const override {
    constexpr std::int64_t channels = 128, padded_to = 256;
    const std::int64_t tokens = w.dv.extents.tokens();
    const std::int64_t beyond = (tokens + padded_to - 1) / padded_to * padded_to - tokens;
    if (w.problem.head_dim_v <= channels || beyond == 0) return;
    take_from_after(w.dv, channels, beyond);
    take_from_after(w.dk, 0, beyond);
  }

 private:
  /// Replaces each row by the row that is `tokens` later, or by zeros. Channels before `channel`
  /// keep their values.
  static void take_from_after(DenseRows& dense, std::int64_t channel, std::int64_t tokens) {
    const DenseRows right = dense;
    const spec::Extents& e = right.extents;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      const auto onto = dense.row(b, n, s).subspan(static_cast<std::size_t>(channel));
      std::ranges::fill(onto, 0.0f);
      if (e.start(b) + s + tokens >= e.tokens()) return;
      std::int64_t of = b, row = s + tokens;
      while (row >= e.length(of)) row -= e.length(of++);
      const auto from = right.row(of, n, row).subspan(static_cast<std::size_t>(channel));
      std::ranges::copy(from, onto.begin());
    });
  }
};

/// Fault: computes dk and dv from a bit mask of the listed blocks, but dq from the list. A block
/// that is listed twice then counts only once in dk and dv.
struct DuplicatesByBitMask : Kernel {
  bool collects(const SelectedWork& w, Gradient which, const Pair& pair) const override {
    if (which == Gradient::dq) return true;
    const std::int64_t own = block(w, pair.q, pair.slot);
    for (std::int64_t slot = 0; slot < pair.slot; ++slot)
      if (block(w, pair.q, slot) == own) return false;
    return true;
  }
};

}  // namespace

std::vector<Mutant> public_faults() {
  std::vector<Mutant> all = {
      injected<ListOfFirstQueryOfTile<32>>(
          "public_list_of_first_of_group_of_32",
          "in groups of 32 heads, two queries share the list of the first query"),
      injected<ListOfFirstQueryOfTile<16>>(
          "public_list_of_first_of_group_of_16",
          "in groups of 16 heads, two queries share the list of the first query"),
      injected<PartialsByPaddedTokens>(
          "public_partials_by_padded_tokens",
          "the offset of partial sums is computed from a padded number of tokens"),
      injected<DuplicatesByBitMask>("public_duplicates_by_bit_mask",
                                    "a block that is listed twice adds once to dk and dv"),
  };
  for (Mutant& one : all) one.subject = Subject::many_calls;
  return all;
}

}  // namespace assay::mutants::selected
