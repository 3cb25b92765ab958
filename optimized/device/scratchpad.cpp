#include "assay/device/scratchpad.hpp"

namespace assay::device {

Bytes Scratchpad::allocate(Bytes size, std::string_view what) {
  const Bytes offset = used_;
  const Bytes end = {offset.count + round_up(size.count, alignment_.count)};
  if (end > capacity_)
    throw DeviceFault(name_ + " overflow: " + std::string(what) + " needs " +
                      std::to_string(size.count) + " B at offset " + std::to_string(offset.count) +
                      ", capacity is " + std::to_string(capacity_.count) + " B");
  used_ = end;
  tiles_.push_back({.what = std::string(what), .offset = offset, .size = size});
  return offset;
}

CubeBuffers::CubeBuffers(const Spec& spec)
    : l1("L1", bytes_of(spec.memories.l1), bytes_of(spec.memories.l1_alignment)),
      l0a("L0A", bytes_of(spec.memories.l0a), bytes_of(spec.memories.l0_alignment)),
      l0b("L0B", bytes_of(spec.memories.l0b), bytes_of(spec.memories.l0_alignment)),
      l0c("L0C", bytes_of(spec.memories.l0c), bytes_of(spec.memories.l0c_alignment)) {}

VectorBuffers::VectorBuffers(const Spec& spec)
    : ub("UB", bytes_of(spec.memories.ub), bytes_of(spec.memories.ub_alignment)) {}

}  // namespace assay::device
