#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// The properties of attention over selected blocks that determine its time. Sequences are packed
/// (layout TND). In memory, the query rows of one token and one group of heads are adjacent; rows
/// of different tokens are not.
struct Selection {
  std::int64_t heads_kv = 1, group = 1;  ///< key heads, and query heads per key head
  std::int64_t queries = 16, keys = 64;  ///< tokens of all sequences
  std::int64_t block = 64, count = 1;    ///< keys of a block, and blocks that a token lists
  std::int64_t head_dim = 16, head_dim_v = 16;
  device::Bytes element = {2};
  /// Maps a number n to the number of key blocks that the lists contain n times, over all key heads
  std::map<std::int64_t, std::int64_t> demand = {};
  /// If the vendor's schedule does not support this problem: a text that says which problems it
  /// supports
  std::string not_taken = {};
  /// The pass that `plans` and `report` search for. Each schedule belongs to one of the two.
  Direction direction = Direction::gradient;

  /// Returns the number of pairs (token, block) for which the token lists the block.
  std::int64_t listings() const;
};

/// A schedule of the gradient that processes one token after the other, as in the vendor's schedule
/// "basic". The kernel processes the listed blocks of a token in chunks, with the query rows of one
/// group. dk and dv of each block are added in global memory.
struct ByToken {
  std::int64_t chunk = 8;  ///< blocks per chunk
  std::int64_t vector_cores = 1;

  std::string to_text() const;
};

/// A schedule of the gradient that processes one key block after the other, with tiles of the
/// tokens that list the block. dk and dv of the block stay in L0C (accumulators); dq is added in
/// global memory. Several cores may each process a part of the tokens of a block.
struct ByBlock {
  std::int64_t tokens = 1;  ///< of a tile
  std::int64_t parts = 1;   ///< parts of the tokens of a block, one core each
  std::int64_t ahead = 1;   ///< tiles whose scores are computed before their gradients
  std::int64_t cuts = 1;    ///< parts into which the keys of a block are split

  std::string to_text() const;
};

/// A schedule of the forward that processes one token after the other, with the query rows of one
/// group. The keys of some listed blocks form a tile of scores. Before the core multiplies a tile
/// with value, it computes the scores of the next `ahead` tiles, also those of the next tokens.
struct ByList {
  std::int64_t blocks = 8;  ///< of a tile; divides the number of listed blocks
  std::int64_t ahead = 2;
  std::int64_t buffers = 2;         ///< for each kind of operand in L1
  std::int64_t vector_tile = 8192;  ///< scores in a buffer of a vector core

  std::string to_text() const;
};

/// Returns the modelled time of a schedule. Errors: device::DeviceFault, naming the buffer and its
/// limit, if the schedule does not fit the device.
Modelled model(const Selection& selection, const ByToken& schedule, const device::Spec& device);
Modelled model(const Selection& selection, const ByBlock& schedule, const device::Spec& device);
Modelled model(const Selection& selection, const ByList& schedule, const device::Spec& device);

/// Returns the buffers of the schedule in each memory. Errors: device::DeviceFault if they do not
/// fit, as for `model`.
std::vector<Buffer> buffers_of(const Selection& selection, const ByToken& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Selection& selection, const ByBlock& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Selection& selection, const ByList& schedule,
                               const device::Spec& device);

/// Returns the instructions of `count` tokens (or tiles of tokens, or of listed blocks) on one
/// core.
device::Program program_of(const Selection& selection, const ByToken& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Selection& selection, const ByBlock& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Selection& selection, const ByList& schedule,
                           const device::Spec& device, std::int64_t count);

/// A schedule and its modelled time.
struct SelectedPlan {
  std::string name;  ///< "basic" is the vendor's
  std::variant<ByToken, ByBlock, ByList> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// Returns the vendor's schedule if it fits the device, otherwise nothing. No schedule of the
/// vendor's forward is known.
std::vector<SelectedPlan> vendor_plans(const Selection& selection, const device::Spec& device);
/// Returns every schedule that fits the device, the fastest first. Includes the vendor's schedule.
/// Cost: well below a second.
std::vector<SelectedPlan> plans(const Selection& selection, const device::Spec& device);

/// As in planner.hpp.
std::string report(const Selection& selection, const device::Spec& device);
std::string trace(const Selection& selection, const device::Spec& device);

}  // namespace assay::optimized::schedules
