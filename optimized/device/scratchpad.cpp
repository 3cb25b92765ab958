#include "assay/device/scratchpad.hpp"

#include <algorithm>

namespace assay::device {

Bytes Scratchpad::allocate(Bytes size, std::string_view what) {
  const Bytes offset = used_;
  const Bytes end = {offset.count + round_up(size.count, alignment_.count)};
  if (end > capacity_)
    throw DeviceFault(name_ + " overflow: " + std::string(what) + " needs " +
                      std::to_string(size.count) + " B at offset " + std::to_string(offset.count) +
                      ", capacity is " + std::to_string(capacity_.count) + " B");
  used_ = end;
  high_water_ = std::max(high_water_, used_);
  tiles_.push_back({.what = std::string(what), .offset = offset, .size = size});
  return offset;
}

void Scratchpad::release(Bytes mark) {
  if (mark > used_)
    throw DeviceFault(name_ + ": release from offset " + std::to_string(mark.count) +
                      " B, but only " + std::to_string(used_.count) + " B are in use");
  used_ = mark;
  std::erase_if(tiles_, [&](const Tile& tile) { return tile.offset >= mark; });
}

}  // namespace assay::device
