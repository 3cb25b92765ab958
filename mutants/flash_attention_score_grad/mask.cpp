#include <algorithm>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct CausalEdgeRight : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask != nullptr && sparse_mode(w, q.b) == 2) return j <= q.i + 1;
    return Kernel::keeps(w, q, j);
  }
};

struct CausalEdgeLeft : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask != nullptr && sparse_mode(w, q.b) == 3) return j < q.i + corner(w, q.b);
    return Kernel::keeps(w, q, j);
  }
};

struct Mode3LeftUp : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask != nullptr && sparse_mode(w, q.b) == 3) return j <= q.i;
    return Kernel::keeps(w, q, j);
  }
};

/// Fault: the band of sparse mode 4 has wrong edges. The left edge moves by `left` keys, the right
/// edge by `right` keys.
template <std::int64_t left, std::int64_t right>
struct BandEdgeMoved : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask == nullptr || w.problem.sparse_mode != 4) return Kernel::keeps(w, q, j);
    const std::int64_t diagonal = q.i + corner(w, q.b);
    return diagonal - w.problem.pre_tokens + left <= j &&
           j <= diagonal + w.problem.next_tokens + right;
  }
};

struct BandLeftUp : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (w.atten_mask == nullptr || w.problem.sparse_mode != 4) return Kernel::keeps(w, q, j);
    return q.i - w.problem.pre_tokens <= j && j <= q.i + w.problem.next_tokens;
  }
};

/// Returns whether the kernel reads a user mask in this call.
bool reads_mask(const AttentionWork& w) {
  return w.atten_mask != nullptr && w.problem.sparse_mode <= 1;
}

struct UserMaskRowBelow : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (reads_mask(w)) q.i = std::min(q.i + 1, w.problem.length_q(q.b) - 1);
    return Kernel::keeps(w, q, j);
  }
};

struct UserMaskFirstHead : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (reads_mask(w)) q.n = 0;
    return Kernel::keeps(w, q, j);
  }
};

struct UserMaskFirstBatch : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (reads_mask(w)) q.b = 0;
    return Kernel::keeps(w, q, j);
  }
};

/// Returns whether the full mask of packed sequences has one slice per sequence.
bool has_packed_slices(const AttentionWork& w) {
  return reads_mask(w) && is_packed(w.problem.input_layout) && w.atten_mask->shape.size() == 4;
}

struct PackedMaskFirstSequence : Kernel {
  bool excluded(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::excluded(w, {has_packed_slices(w) ? 0 : q.b, q.n, q.i}, j);
  }
};

struct PackedMaskFirstHead : Kernel {
  bool excluded(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::excluded(w, {q.b, has_packed_slices(w) ? 0 : q.n, q.i}, j);
  }
};

/// Returns whether a compressed mask has separate slices for sequences or heads.
bool has_compressed_slices(const AttentionWork& w) {
  return w.atten_mask != nullptr && is_compressed(w.problem.atten_mask) &&
         w.problem.atten_mask > spec::MaskShape::compressed_one_one_ss;
}

struct CompressedSlicesAsWritten : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    return has_compressed_slices(w) ? !excluded(w, q, j) : Kernel::keeps(w, q, j);
  }
};

/// Fault: the kernel expects the rows and columns of the mask pattern in the first two axes, but
/// these axes number the slices. The pattern is then too small and masks nothing.
struct CompressedSlicesIgnored : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    return has_compressed_slices(w) || Kernel::keeps(w, q, j);
  }
};

/// Fault: uses the slice stride of a full mask for the slices of a compressed mask.
struct CompressedSlicesApart : Kernel {
  bool keeps(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    if (!has_compressed_slices(w) || p.sparse_mode != 2) return Kernel::keeps(w, q, j);
    const std::int64_t heads = w.atten_mask->shape[1];
    const std::int64_t slice = q.b * heads + (heads > 1 ? q.n : 0);
    const std::int64_t element = slice * p.seq_q * p.seq_kv + q.i * spec::compressed_mask_edge + j;
    return w.atten_mask->load(w.atten_mask->offset + element) == 0;
  }
};

struct MaskIgnored : Kernel {
  bool keeps(const AttentionWork&, Query, std::int64_t) const override { return true; }
};

struct DeadRowsAttend : Kernel {
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (is_dead(w, q)) return 1.0f / static_cast<float>(w.problem.length_kv(q.b));
    return Kernel::probability(w, q, j, row);
  }
};

struct DeadRowsGarbage : Kernel {
  void adjust(AttentionWork& w) const override {
    for (std::int64_t b = 0; b < w.problem.batch; ++b)
      for (std::int64_t n = 0; n < w.problem.heads_q; ++n)
        for (std::int64_t i = 0; i < w.problem.length_q(b); ++i)
          if (is_dead(w, {b, n, i})) std::ranges::fill(w.dq.row(b, n, i), 1e-3f);
  }
};

/// Fault: the test "this tile lies above the diagonal" also skips a tile that touches the diagonal
/// with its corner.
struct DiagonalTileSkipped : Kernel {
  bool visits(const AttentionWork& w, std::int64_t b, const Tile& tile) const override {
    const std::int64_t mode = sparse_mode(w, b);
    if (w.atten_mask == nullptr || mode < 2 || mode > 3) return true;
    const std::int64_t shift = mode == 3 ? corner(w, b) : 0;
    return tile.first_key < tile.first_query + shift + 1;
  }
};

}  // namespace

std::vector<Mutant> mask_mutants() {
  return {
      injected<CausalEdgeRight>("causal_edge_right",
                                "mode 2 leaves one key too many "
                                "unmasked",
                                ascend_like),
      injected<CausalEdgeLeft>("causal_edge_left", "mode 3 masks the diagonal"),
      injected<Mode3LeftUp>("mode3_left_up", "mode 3 is anchored at the left upper corner",
                            ascend_like),
      injected<BandEdgeMoved<1, 0>>("band_left_edge_late", "mode 4 masks the first key of the band",
                                    ascend_like),
      injected<BandEdgeMoved<-1, 0>>("band_left_edge_early",
                                     "mode 4 leaves one key before the band "
                                     "unmasked"),
      injected<BandEdgeMoved<0, 1>>("band_right_edge_late",
                                    "mode 4 leaves one key after the band "
                                    "unmasked",
                                    ascend_like),
      injected<BandLeftUp>("band_left_up", "mode 4 is anchored at the left upper corner"),
      injected<UserMaskRowBelow>("user_mask_row_below",
                                 "each query uses the next row of the user's mask"),
      injected<UserMaskFirstHead>("user_mask_first_head",
                                  "reads the mask of head 0 for every head"),
      injected<UserMaskFirstBatch>("user_mask_first_batch",
                                   "reads the mask of batch 0 for every batch"),
      injected<PackedMaskFirstSequence>("packed_mask_first_sequence",
                                        "reads the mask of the first packed sequence for all"),
      injected<PackedMaskFirstHead>("packed_mask_first_head",
                                    "reads the mask of head 0 for every head of packed sequences"),
      injected<CompressedSlicesAsWritten>("compressed_slices_as_written",
                                          "reads a compressed mask with slices as a full mask",
                                          ascend_like),
      injected<CompressedSlicesIgnored>("compressed_slices_ignored",
                                        "a compressed mask with slices masks nothing"),
      injected<CompressedSlicesApart>("compressed_slices_apart",
                                      "slices of a compressed mask are Sq * Skv elements apart"),
      injected<MaskIgnored>("mask_ignored", "no key is masked", ascend_like),
      injected<DeadRowsAttend>("dead_rows_attend", "fully masked rows attend to all keys equally"),
      injected<DeadRowsGarbage>("dead_rows_garbage", "dq of fully masked rows is 1e-3"),
      injected<DiagonalTileSkipped>("diagonal_tile_skipped",
                                    "skips tiles whose corner touches the diagonal"),
  };
}

}  // namespace assay::mutants
