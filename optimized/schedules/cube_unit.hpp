#pragma once

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// A sum of products in L0C: what it had to wait for, and the last product in it.
struct Accumulator {
  device::Ring* buffers;
  device::TaskId freed_by = device::none, summed = device::none;
};

/// Extents of a product: m x k by k x n.
struct Extents {
  std::int64_t m, n, k;
};

/// Products of operands in L1: pieces of them through two buffers each of L0A and L0B, summed in
/// one of the buffers of L0C, drained from there.
class CubeUnit {
 public:
  /// Pieces are as deep as half of L0A and of L0B holds. Beside so many accumulators there may be
  /// narrow ones, which do not wait for these; then pieces have a quarter of L0B.
  CubeUnit(device::Instructions& code, device::Bytes element, std::size_t accumulators,
           std::size_t narrow = 0)
      : code_(code),
        element_(element),
        l0b_parts_(narrow > 0 ? 4 : 2),
        l0a_(2),
        l0b_(2),
        held_(narrow > 0 ? 2 : 0),
        l0c_(accumulators),
        narrow_(narrow) {}

  /// Takes a buffer of L0C. Errors: device::DeviceFault if none is left that will be drained.
  Accumulator open() { return {.buffers = &l0c_, .freed_by = l0c_.take()}; }
  Accumulator open_narrow() { return {.buffers = &narrow_, .freed_by = narrow_.take()}; }
  /// Adds a product of operands that two loads bring; returns the last instruction that reads L1.
  device::TaskId multiply(Accumulator& sum, const Extents& of, device::TaskId left,
                          device::TaskId right);
  /// Whether a right operand can stay in a quarter of L0B for several products, where there are
  /// narrow accumulators: the others then have the rest of L0B.
  bool can_hold(const Extents& of) const;
  /// Brings it there; returns the last instruction that reads L1.
  device::TaskId hold(const Extents& of, device::TaskId right);
  /// A product with it; returns the last instruction that reads the left operand in L1.
  device::TaskId multiply_held(Accumulator& sum, const Extents& of, device::TaskId left,
                               device::TaskId held);
  /// Frees its place behind the last of them.
  void release(const Accumulator& last) { held_.give(last.summed); }
  /// Moves `fp32` bytes of it to global memory, once there is `room`, and frees its buffer.
  device::TaskId drain(const Accumulator& sum, device::Bytes fp32, device::Drain drain,
                       device::TaskId room = device::none);
  /// The same where other numbers than fp32 are stored.
  device::TaskId drain_as(const Accumulator& sum, device::Bytes fp32, device::Bytes stored);

 private:
  std::int64_t depth(const Extents& of) const;

  device::Instructions& code_;
  device::Bytes element_;
  std::int64_t l0b_parts_;
  device::Ring l0a_, l0b_, held_, l0c_, narrow_;
};

}  // namespace assay::optimized::schedules
