#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/optimized/schedules/features.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Sequences of equal lengths. Query i sees the keys i - before to i + after, and the first
/// `prefix` keys.
struct Sequences {
  static constexpr std::int64_t unbounded = std::int64_t{1} << 40;

  std::int64_t count = 1, seq_q = 128, seq_kv = 128;
  std::int64_t before = unbounded, after = unbounded, prefix = 0;

  /// Returns how many rectangles of scores have an unmasked pair. The scores of one head and
  /// sequence are divided into rectangles; each has rows x columns blocks.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  bool masked() const;
};

/// The properties of attention that determine its time. Without listed sequences, `heads` is the
/// sum of heads over all sequences. With listed sequences, `heads` counts the heads of each
/// sequence, seq_q and seq_kv are the longest lengths, and `causal` is ignored.
struct Attention {
  std::int64_t heads = 1, heads_kv = 1;
  std::int64_t seq_q = 128, seq_kv = 128, head_dim = 128;
  bool causal = false;
  bool contiguous = true;          ///< rows of one head are adjacent: BNSD, or a layout of one head
  std::int64_t head_dim_v = 0;     ///< of value and dy; 0: equal to head_dim
  std::int64_t head_dim_rope = 0;  ///< of query and key, in separate tensors
  device::Bytes element = {2};
  std::vector<Sequences> listed = {};
  Features features = {};  ///< of the gradient
  /// For each vendor's schedule that does not support this problem: a text that says which problems
  /// it supports.
  std::map<std::string, std::string> not_taken = {};

  /// The number of blocks of 128 x 128 scores that have an unmasked pair.
  std::int64_t blocks() const { return kept(1, 1); }
  /// The number of rectangles of rows x columns blocks that have an unmasked pair, over all heads
  /// and sequences.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  std::vector<Sequences> sequences() const;
  bool masked() const;
  /// Return the number of channels that are summed for a score (channels) and for an element of dP
  /// (channels_v).
  std::int64_t channels() const { return head_dim + head_dim_rope; }
  std::int64_t channels_v() const { return head_dim_v == 0 ? head_dim : head_dim_v; }
};

/// How a forward is split into tiles. A core processes the tiles of one block of rows in
/// order. Before it multiplies a tile with value, it computes the scores of the next `ahead`
/// tiles.
struct Forward {
  std::int64_t rows = 128, columns = 1024, ahead = 2;
};

/// Returns the modelled time of the forward. The cycles of the vector cores are those of row F11 (a
/// measurement) of the validation table; the model assumes no L2 misses.
Modelled model(const Attention& attention, const Forward& schedule, const device::Spec& device);

}  // namespace assay::optimized::schedules
