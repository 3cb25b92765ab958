#pragma once

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// A sum of products in an L0C buffer: the instruction that frees the buffer, and the last product
/// of the sum.
struct Accumulator {
  device::Ring* buffers;
  device::TaskId freed_by = device::none, summed = device::none;
};

/// Extents of a matrix product: m x k by k x n.
struct Extents {
  std::int64_t m, n, k;
};

/// Models products of operands in L1. It moves pieces of the operands through two buffers in each
/// of L0A and L0B, sums the products in an L0C buffer, and writes (drains) this buffer to global
/// memory.
class CubeUnit {
 public:
  /// A piece of an operand fills half of L0A or half of L0B. `narrow` is the number of additional
  /// accumulators for scores, which do not wait for the other accumulators. If it is not 0, a piece
  /// of the right operand fills a quarter of L0B.
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

  /// Takes a free buffer of L0C. Errors: device::DeviceFault if no buffer is free and none will be
  /// drained.
  Accumulator open() { return {.buffers = &l0c_, .freed_by = l0c_.take()}; }
  Accumulator open_narrow() { return {.buffers = &narrow_, .freed_by = narrow_.take()}; }
  /// Adds a product to the sum. `left` and `right` are the instructions that load its operands.
  /// Returns the last instruction that reads L1.
  device::TaskId multiply(Accumulator& sum, const Extents& of, device::TaskId left,
                          device::TaskId right);
  /// Returns whether a right operand fits in a quarter of L0B, where it can stay for several
  /// products. Requires `narrow` > 0. Other operands then use the rest of L0B.
  bool can_hold(const Extents& of) const;
  /// Moves a right operand to L0B, where it stays. Returns the last instruction that reads L1.
  device::TaskId hold(const Extents& of, device::TaskId right);
  /// Multiplies with the right operand that stays in L0B. Returns the last instruction that reads
  /// the left operand in L1.
  device::TaskId multiply_held(Accumulator& sum, const Extents& of, device::TaskId left,
                               device::TaskId held);
  /// Frees the part of L0B with the right operand that stayed there, after the last product with
  /// it.
  void release(const Accumulator& last) { held_.give(last.summed); }
  /// Writes `fp32` bytes of the sum to global memory, after the instruction `room` has freed the
  /// destination. Frees the buffer of the sum.
  device::TaskId drain(const Accumulator& sum, device::Bytes fp32, device::Drain drain,
                       device::TaskId room = device::none);
  /// Does the same as drain, but converts the fp32 sums to a type of another size before the store.
  device::TaskId drain_as(const Accumulator& sum, device::Bytes fp32, device::Bytes stored);

 private:
  std::int64_t depth(const Extents& of) const;

  device::Instructions& code_;
  device::Bytes element_;
  std::int64_t l0b_parts_;
  device::Ring l0a_, l0b_, held_, l0c_, narrow_;
};

}  // namespace assay::optimized::schedules
