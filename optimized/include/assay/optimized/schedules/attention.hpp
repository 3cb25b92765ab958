#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/features.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Sequences of equal lengths. Query i can attend to the keys i - before to i + after, and to the
/// first `prefix` keys.
struct Sequences {
  static constexpr std::int64_t unbounded = std::int64_t{1} << 40;

  std::int64_t count = 1, seq_q = 128, seq_kv = 128;
  std::int64_t before = unbounded, after = unbounded, prefix = 0;

  /// Groups the blocks of scores of one head and sequence into rectangles with rows x columns
  /// blocks. Returns the number of rectangles that contain an unmasked pair.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  bool masked() const;
};

/// The properties of an attention problem that determine its time. Without listed sequences,
/// `heads` is the sum of heads over all sequences. With listed sequences, `heads` counts the heads
/// of each sequence, seq_q and seq_kv are the longest lengths, and `causal` is ignored.
struct Attention {
  std::int64_t heads = 1, heads_kv = 1;
  std::int64_t seq_q = 128, seq_kv = 128, head_dim = 128;
  bool causal = false;
  bool contiguous = true;          ///< rows of one head are adjacent: BNSD, or a layout of one head
  std::int64_t head_dim_v = 0;     ///< of value and dy; 0: equal to head_dim
  std::int64_t head_dim_rope = 0;  ///< of query and key, in separate tensors
  device::Bytes element = {2};
  std::vector<Sequences> listed = {};
  Features features = {};  ///< of the direction
  /// Schedules of the vendor that do not support this problem. Key: name of the schedule; value: a
  /// text that says which problems it supports
  std::map<std::string, std::string> not_taken = {};
  /// The pass that `plans` and `report` search for. Each schedule belongs to one of the two.
  Direction direction = Direction::gradient;

  /// Returns the number of blocks of 128 x 128 scores that have an unmasked pair.
  std::int64_t blocks() const { return kept(1, 1); }
  /// Groups the blocks of scores into rectangles with rows x columns blocks. Returns the number of
  /// rectangles that contain an unmasked pair, over all heads and sequences.
  std::int64_t kept(std::int64_t rows, std::int64_t columns) const;
  std::vector<Sequences> sequences() const;
  bool masked() const;
  /// Return how many channels are summed for a score (channels) and for an element of dP
  /// (channels_v).
  std::int64_t channels() const { return head_dim + head_dim_rope; }
  std::int64_t channels_v() const { return head_dim_v == 0 ? head_dim : head_dim_v; }
};

/// How a forward kernel is split into tiles. A core processes the tiles of one block of rows in
/// order. Before it multiplies a tile with value, it computes the scores of the next `ahead` tiles.
struct Forward {
  std::int64_t rows = 128, columns = 1024, ahead = 2;
  std::int64_t group = 1;           ///< row tiles of a row block; they use the same loaded keys
  std::int64_t keys = 128;          ///< of one matrix product; divides `columns`
  std::int64_t buffers = 2;         ///< for each kind of operand in L1
  std::int64_t vector_tile = 8192;  ///< scores in a buffer of a vector core

  std::string to_text() const;
};

/// Returns the modelled time of a forward kernel. The cycles of its vector cores come from a
/// measurement (row F11 of the table that `assay_bench validation` prints). The model assumes that
/// only the first read of an input misses in L2. Errors: device::DeviceFault, naming the buffer and
/// its limit, if the schedule does not fit the device.
Modelled model(const Attention& attention, const Forward& schedule, const device::Spec& device);

/// Returns the buffers in each memory of the device. All cores share the buffers in L2; the buffers
/// in the other memories exist once per core. Errors: device::DeviceFault, as for `model`.
std::vector<Buffer> buffers_of(const Attention& attention, const Forward& schedule,
                               const device::Spec& device);

/// Returns the instructions of `tiles` tiles on one core.
device::Program program_of(const Attention& attention, const Forward& schedule,
                           const device::Spec& device, std::int64_t tiles);

}  // namespace assay::optimized::schedules
