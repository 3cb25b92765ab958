#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct Mode8BandEverywhere : Kernel {
  std::int64_t sparse_mode(const AttentionWork& w, std::int64_t b) const override {
    return w.problem.sparse_mode == 8 ? 4 : Kernel::sparse_mode(w, b);
  }
};

struct Mode8OthersRightDown : Kernel {
  std::int64_t sparse_mode(const AttentionWork& w, std::int64_t b) const override {
    const std::int64_t mode = Kernel::sparse_mode(w, b);
    return w.problem.sparse_mode == 8 && mode == 2 ? 3 : mode;
  }
};

struct Mode7BandFirst : Kernel {
  std::int64_t band_batch(const AttentionWork& w) const override {
    if (w.problem.sparse_mode == 8) return Kernel::band_batch(w);
    std::int64_t b = 0;
    while (b + 1 < w.problem.batch && w.problem.length_q(b) == 0) ++b;
    return b;
  }
};

/// Fault: in sparse modes 7 and 8, applies the band to the last or the first sequence even if this
/// sequence has no queries.
struct BandMayBeEmpty : Kernel {
  std::int64_t band_batch(const AttentionWork& w) const override {
    return w.problem.sparse_mode == 7 ? w.problem.batch - 1 : 0;
  }
};

struct BandUnused : Kernel {
  std::int64_t band_batch(const AttentionWork&) const override { return -1; }
};

struct PrefixOneMore : Kernel {
  std::int64_t prefix(const AttentionWork& w, std::int64_t b) const override {
    return Kernel::prefix(w, b) + 1;
  }
};

struct PrefixOfFirst : Kernel {
  std::int64_t prefix(const AttentionWork& w, std::int64_t) const override {
    return Kernel::prefix(w, 0);
  }
};

struct PrefixAndCausal : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask == nullptr || w.problem.sparse_mode != 6) return Kernel::keeps(w, q, j);
    return j < prefix(w, q.b) && j <= q.i + corner(w, q.b);
  }
};

/// Fault: in sparse mode 3, reads the compressed mask at a wrong place from key 2,048 on (2,048 is
/// the width of this mask). The window into the mask then starts one row too late.
struct CompressedRowOff : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    const bool beyond = j >= spec::compressed_mask_edge && sparse_mode(w, q.b) == 3;
    return Kernel::keeps(w, q, beyond ? j - 1 : j);
  }
};

}  // namespace

std::vector<Mutant> sparse_mutants() {
  return {
      injected<Mode8BandEverywhere>("mode8_band_everywhere",
                                    "mode 8 applies the band to every sequence", ascend_like),
      injected<Mode8OthersRightDown>(
          "mode8_others_right_down",
          "mode 8 anchors the other sequences at the right lower corner"),
      injected<Mode7BandFirst>("mode7_band_first", "mode 7 applies the band to the first sequence"),
      injected<BandMayBeEmpty>(
          "band_may_be_empty",
          "modes 7 and 8 apply the band to the outermost sequence even if it is empty",
          ascend_like),
      injected<BandUnused>("band_unused", "modes 7 and 8 do not apply the band"),
      injected<PrefixOneMore>("prefix_one_more", "mode 6 leaves one key after the prefix unmasked"),
      injected<PrefixOfFirst>("prefix_of_first", "mode 6 uses the prefix of sequence 0 for all",
                              ascend_like),
      injected<PrefixAndCausal>("prefix_and_causal",
                                "mode 6 masks every key outside the prefix, and every key right of "
                                "the diagonal; only keys that meet both conditions must be masked"),
      injected<CompressedRowOff>("compressed_row_off", "mode 3 is one key off after 2048 keys",
                                 ascend_like),
  };
}

}  // namespace assay::mutants
