#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/optimized/schedules/features.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Some sequences of the same lengths. Query i sees the keys from i - before to i + after, and the
/// first `prefix`.
struct Sequences {
  static constexpr std::int64_t unbounded = std::int64_t{1} << 40;

  std::int64_t count = 1, seq_q = 128, seq_kv = 128;
  std::int64_t before = unbounded, after = unbounded, prefix = 0;

  /// Rectangles of so many rows and columns, side by side, in which some query of one head of one
  /// sequence sees a key.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  bool masked() const;
};

/// Attention as far as time depends on it; heads are those of all sequences, or of each where
/// sequences are listed: then their lengths are the longest, and `causal` says nothing.
struct Attention {
  std::int64_t heads = 1, heads_kv = 1;
  std::int64_t seq_q = 128, seq_kv = 128, head_dim = 128;
  bool causal = false;
  bool contiguous = true;          ///< rows of one head are adjacent: BNSD, or a layout of one head
  std::int64_t head_dim_v = 0;     ///< of value and dy; 0: as many as head_dim
  std::int64_t head_dim_rope = 0;  ///< of query and key, in tensors of their own
  device::Bytes element = {2};
  std::vector<Sequences> listed = {};
  Features features = {};  ///< of the gradient
  /// By family of the vendor's, what it takes where it does not take this problem.
  std::map<std::string, std::string> not_taken = {};

  /// Blocks of 128 x 128 scores that hold a pair which is kept.
  std::int64_t blocks() const { return kept(1, 1); }
  /// Rounds of so many such blocks that hold one, of all heads and sequences.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  std::vector<Sequences> sequences() const;
  bool masked() const;
  /// Channels over which scores are summed, and dP.
  std::int64_t channels() const { return head_dim + head_dim_rope; }
  std::int64_t channels_v() const { return head_dim_v == 0 ? head_dim : head_dim_v; }
};

/// How a forward cuts its work: a block of rows is the work of a core, tiles of columns follow each
/// other; scores are computed so many tiles ahead of the product with value.
struct Forward {
  std::int64_t rows = 128, columns = 1024, ahead = 2;
};

/// Time of the forward. Vector cycles are those of row F11; nothing of L2 is missed.
Modelled model(const Attention& attention, const Forward& schedule, const device::Spec& device);

}  // namespace assay::optimized::schedules
