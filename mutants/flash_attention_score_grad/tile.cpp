#include <algorithm>
#include <span>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

/// Returns whether row s lies in the last tile and this tile is not full.
bool in_tail(std::int64_t s, std::int64_t rows, std::int64_t tile) {
  return s >= rows / tile * tile;
}

struct TailQueriesStale : Kernel {
  bool writes_row(const AttentionWork& w, Gradient which, std::int64_t b,
                  std::int64_t s) const override {
    return !is_of_queries(which) || !in_tail(s, w.problem.length_q(b), plan().query_tile);
  }
};

struct TailKeysStale : Kernel {
  bool writes_row(const AttentionWork& w, Gradient which, std::int64_t b,
                  std::int64_t s) const override {
    return is_of_queries(which) || !in_tail(s, w.problem.length_kv(b), plan().key_tile);
  }
};

struct TailKeysSkipped : Kernel {
  bool visits(const AttentionWork&, std::int64_t, const Tile& tile) const override {
    return tile.first_key == 0 || tile.end_key - tile.first_key == plan().key_tile;
  }
};

struct LastKeyDropped : Kernel {
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    if (j + 1 < w.problem.length_kv(q.b)) Kernel::add_pair(w, q, j, row);
  }
};

struct FirstKeyTwice : Kernel {
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    Kernel::add_pair(w, q, j, row);
    if (j == 0) Kernel::add_pair(w, q, j, row);
  }
};

struct LastKeyTwiceInDq : Kernel {
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    Kernel::add_pair(w, q, j, row);
    if (j + 1 != w.problem.length_kv(q.b)) return;
    const float ds = dscore(w, q, j, probability(w, q, j, row), row);
    add_to(w, Gradient::dq, q, j, stage(w, ds));
  }
};

struct WorkspaceNotZeroed : Kernel {
  void clear(AttentionWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    w.dq = filled(w.dq.extents, 0.125f);  // the old contents of the memory
  }
};

struct AccumulatesOnOutput : Kernel {
  void clear(AttentionWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    w.dv = read(outputs.dv, w.problem.input_layout, w.dv.extents);
  }
};

/// A range of rows that are not near an edge of a tile. A judge that samples rows prefers the rows
/// at the edges.
constexpr std::int64_t first_hidden = 70, end_hidden = 122;

/// Fault: corrupts the rows far from the tile edges in one gradient of the first head, if the
/// sequence is long enough.
template <Gradient which, class Corrupt>
struct HiddenTile : Kernel {
  void adjust(AttentionWork& w) const override {
    const std::int64_t length =
        is_of_queries(which) ? w.problem.length_q(0) : w.problem.length_kv(0);
    if (length <= end_hidden) return;
    for (std::int64_t s = first_hidden; s < end_hidden; ++s)
      Corrupt{}(w.gradient(which).row(0, 0, s), w.gradient(which).row(0, 0, s + 1));
  }
};

struct Lose {
  void operator()(std::span<float> row, std::span<float>) const { std::ranges::fill(row, 0.0f); }
};
struct Negate {
  void operator()(std::span<float> row, std::span<float>) const {
    for (float& x : row) x = -x;
  }
};
struct Shift {
  void operator()(std::span<float> row, std::span<float> next) const {
    std::ranges::copy(next, row.begin());
  }
};

}  // namespace

std::vector<Mutant> tile_mutants() {
  return {
      injected<TailQueriesStale>(
          "tail_queries_stale", "dq of the incomplete last query tile is not written", ascend_like),
      injected<TailKeysStale>("tail_keys_stale",
                              "dk and dv of the incomplete last key tile are not written"),
      injected<TailKeysSkipped>("tail_keys_skipped",
                                "the incomplete last key tile contributes nothing"),
      injected<LastKeyDropped>("last_key_dropped", "the last key contributes nothing", ascend_like),
      injected<FirstKeyTwice>("first_key_twice", "the first key is counted twice"),
      injected<LastKeyTwiceInDq>("last_key_twice_in_dq", "the last key is counted twice in dq"),
      injected<WorkspaceNotZeroed>("workspace_not_zeroed",
                                   "dq accumulates onto the old contents of the workspace"),
      injected<HiddenTile<Gradient::dq, Lose>>("hidden_tile_of_dq_lost",
                                               "52 rows of dq are 0 in a long sequence"),
      injected<HiddenTile<Gradient::dk, Negate>>("hidden_tile_of_dk_negated",
                                                 "52 rows of dk have the wrong sign", ascend_like),
      injected<HiddenTile<Gradient::dv, Lose>>(
          "hidden_tile_of_dv_lost", "52 rows of dv are 0 in a long sequence", ascend_like),
      injected<HiddenTile<Gradient::dk, Shift>>("hidden_tile_of_dk_shifted",
                                                "52 rows of dk are the rows of the next key"),
      injected<AccumulatesOnOutput>("accumulates_on_output",
                                    "dv accumulates onto the old contents of the output",
                                    ascend_like),
  };
}

}  // namespace assay::mutants
