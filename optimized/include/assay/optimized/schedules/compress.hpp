#pragma once

#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Compression of windows of tokens, as far as time depends on it.
struct Compression {
  std::int64_t heads = 1, head_dim = 16;
  std::int64_t size = 32, stride = 16;       ///< tokens of a window, and from one to the next
  std::vector<std::int64_t> lengths = {64};  ///< tokens of every sequence
  device::Bytes element = {2};

  std::int64_t tokens() const;
  std::int64_t windows() const;
};

/// Window by window, as the vendor's (device facts, section 4.7): the vector cores share windows
/// and heads, and add what windows overlap in to sums in global memory.
struct ByWindow {
  std::int64_t pieces = 1;  ///< of the tokens of a window, where all of them do not fit

  std::string to_text() const;
};

/// Tile by tile of tokens and channels: all windows over a tile meet it in the unified buffer, and
/// its gradient is stored once.
struct ByTile {
  std::int64_t tokens = 32, channels = 64;
  std::int64_t buffers = 2;  ///< of each kind that is moved

  std::string to_text() const;
};

/// Errors: device::DeviceFault, naming the buffer and its limit, if it does not fit.
Modelled model(const Compression& compression, const ByWindow& schedule,
               const device::Spec& device);
Modelled model(const Compression& compression, const ByTile& schedule, const device::Spec& device);

/// What the unified buffer holds. Errors: as of model.
std::vector<Buffer> buffers_of(const Compression& compression, const ByWindow& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Compression& compression, const ByTile& schedule,
                               const device::Spec& device);

/// The instructions of so many windows, or tiles, on each of two vector cores.
device::Program program_of(const Compression& compression, const ByWindow& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Compression& compression, const ByTile& schedule,
                           const device::Spec& device, std::int64_t count);

/// A schedule and what the model says of it.
struct CompressPlan {
  std::string name;  ///< "by window" is the vendor's
  std::variant<ByWindow, ByTile> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// The vendor's, where it fits.
std::vector<CompressPlan> vendor_plans(const Compression& compression, const device::Spec& device);
/// Every schedule that fits, the fastest first, and the vendor's.
/// Cost: well below a second.
std::vector<CompressPlan> plans(const Compression& compression, const device::Spec& device);

/// As of the planner of attention.
std::string report(const Compression& compression, const device::Spec& device);
std::string trace(const Compression& compression, const device::Spec& device);

}  // namespace assay::optimized::schedules
