#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// Thrown for an error that would trap, hang or corrupt data on the modelled hardware.
class DeviceFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One on-chip buffer of a core. Tiles are allocated one after the other.
class Scratchpad {
 public:
  /// One allocated part of the on-chip buffer.
  struct Tile {
    std::string what;
    Bytes offset, size;
  };

  Scratchpad(std::string_view name, Bytes capacity, Bytes alignment)
      : name_(name), capacity_(capacity), alignment_(alignment) {}

  /// Allocates `size` bytes after the last allocation and returns their offset. Errors: DeviceFault
  /// if they do not fit.
  Bytes allocate(Bytes size, std::string_view what);

  const std::string& name() const { return name_; }
  Bytes capacity() const { return capacity_; }
  Bytes used() const { return used_; }
  const std::vector<Tile>& tiles() const { return tiles_; }

 private:
  std::string name_;
  Bytes capacity_, alignment_, used_;
  std::vector<Tile> tiles_;
};

/// The on-chip buffers of a cube (matrix) core. Initially, nothing is allocated in them.
struct CubeBuffers {
  Scratchpad l1, l0a, l0b, l0c;
  explicit CubeBuffers(const Spec& spec);
};
/// The on-chip buffer of a vector core. Initially, nothing is allocated in it.
struct VectorBuffers {
  Scratchpad ub;
  explicit VectorBuffers(const Spec& spec);
};

}  // namespace assay::device
