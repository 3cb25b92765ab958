#pragma once

#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// The properties of a compression (weighted sums over windows of tokens) that determine its time.
struct Compression {
  std::int64_t heads = 1, head_dim = 16;
  std::int64_t size = 32, stride = 16;       ///< tokens of a window, and distance of window starts
  std::vector<std::int64_t> lengths = {64};  ///< tokens of every sequence
  device::Bytes element = {2};
  /// The pass that `plans` and `report` search for. Each schedule belongs to one of the two.
  Direction direction = Direction::gradient;

  std::int64_t tokens() const;
  std::int64_t windows() const;
};

/// The vendor's schedule of the gradient. Windows and heads are distributed to the vector cores,
/// which process one window after the other. The gradients of tokens in overlapping windows are
/// added in global memory.
struct ByWindow {
  std::int64_t pieces = 1;  ///< of a window's tokens, if not all of them fit into the buffer

  std::string to_text() const;
};

/// Our schedule of the gradient: processes one tile of tokens and channels after the other. The
/// tile stays in the unified buffer while all windows that cover it are processed, and its gradient
/// is stored once.
struct ByTile {
  std::int64_t tokens = 32, channels = 64;
  std::int64_t buffers = 2;  ///< number of buffers for each kind of moved tile

  std::string to_text() const;
};

/// Our schedule of the forward: loads the tokens of several consecutive windows, and computes their
/// weighted sums.
struct ByOutput {
  std::int64_t windows = 4, channels = 64;
  std::int64_t buffers = 2;  ///< number of buffers for each kind of moved tile

  std::string to_text() const;
};

/// Returns the modelled time of a schedule. Errors: device::DeviceFault, naming the buffer and its
/// limit, if the schedule does not fit the device.
Modelled model(const Compression& compression, const ByWindow& schedule,
               const device::Spec& device);
Modelled model(const Compression& compression, const ByTile& schedule, const device::Spec& device);
Modelled model(const Compression& compression, const ByOutput& schedule,
               const device::Spec& device);

/// Returns the buffers that the schedule allocates in the unified buffer (memory of a vector core).
/// Errors: device::DeviceFault if they do not fit, as for `model`.
std::vector<Buffer> buffers_of(const Compression& compression, const ByWindow& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Compression& compression, const ByTile& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Compression& compression, const ByOutput& schedule,
                               const device::Spec& device);

/// Returns the instructions of `count` windows (or tiles) on each of two vector cores.
device::Program program_of(const Compression& compression, const ByWindow& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Compression& compression, const ByTile& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Compression& compression, const ByOutput& schedule,
                           const device::Spec& device, std::int64_t count);

/// A schedule and its modelled time.
struct CompressPlan {
  std::string name;  ///< "by window" is the vendor's
  std::variant<ByWindow, ByTile, ByOutput> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// Returns the vendor's schedule if it fits the device, otherwise nothing. No schedule of the
/// vendor's forward is known.
std::vector<CompressPlan> vendor_plans(const Compression& compression, const device::Spec& device);
/// Returns every schedule that fits the device, the fastest first. Includes the vendor's schedule.
/// Cost: well below a second.
std::vector<CompressPlan> plans(const Compression& compression, const device::Spec& device);

/// As in planner.hpp.
std::string report(const Compression& compression, const device::Spec& device);
std::string trace(const Compression& compression, const device::Spec& device);

}  // namespace assay::optimized::schedules
