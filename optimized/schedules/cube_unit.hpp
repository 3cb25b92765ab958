#pragma once

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// A sum of products in a buffer of L0C (accumulators): the instruction that frees the buffer, and
/// the last product of the sum.
struct Accumulator {
  device::Ring* buffers;
  device::TaskId freed_by = device::none, summed = device::none;
};

/// Extents of a matrix product: m x k by k x n.
struct Extents {
  std::int64_t m, n, k;
};

/// Models matrix products of operands in L1. Moves pieces of the operands through two buffers in
/// each of L0A and L0B, sums the products in a buffer of L0C (accumulators), and writes this buffer
/// to global memory.
class CubeUnit {
 public:
  /// A piece of an operand fills half of L0A or half of L0B. `narrow`: number of additional
  /// accumulators for scores, which do not wait for the other accumulators. If `narrow` is not 0,
  /// L0B has four parts, and a piece of the right operand fills one of them.
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

  /// Takes a free buffer of L0C (accumulators). Errors: device::DeviceFault if no buffer is free
  /// and none will be freed.
  Accumulator open() { return {.buffers = &l0c_, .freed_by = l0c_.take()}; }
  Accumulator open_narrow() { return {.buffers = &narrow_, .freed_by = narrow_.take()}; }
  /// Adds a matrix product to the sum. `left` and `right`: the instructions that load the operands.
  /// Returns the last instruction that reads L1.
  device::TaskId multiply(Accumulator& sum, const Extents& of, device::TaskId left,
                          device::TaskId right);
  /// Returns whether a right operand fits in a quarter of L0B, so that it can stay there for
  /// several products. Requires `narrow` > 0. Other operands then use the rest of L0B.
  bool can_hold(const Extents& of) const;
  /// Moves a right operand to L0B and keeps it there for several products. Returns the last
  /// instruction that reads L1.
  device::TaskId hold(const Extents& of, device::TaskId right);
  /// Multiplies with the right operand that `hold` keeps in L0B. Returns the last instruction that
  /// reads the left operand in L1.
  device::TaskId multiply_held(Accumulator& sum, const Extents& of, device::TaskId left,
                               device::TaskId held);
  /// Frees the part of L0B in which `hold` keeps a right operand. Call this function after the last
  /// product with this operand.
  void release(const Accumulator& last) { held_.give(last.summed); }
  /// Writes `fp32` bytes of the sum to global memory and frees the buffer of the sum. The write
  /// starts after the instruction `room`, which frees the destination.
  device::TaskId drain(const Accumulator& sum, device::Bytes fp32, device::Drain drain,
                       device::TaskId room = device::none);
  /// Writes a sum like `drain`, but converts the fp32 numbers to a type of another size before the
  /// store.
  device::TaskId drain_as(const Accumulator& sum, device::Bytes fp32, device::Bytes stored);

 private:
  std::int64_t depth(const Extents& of) const;

  device::Instructions& code_;
  device::Bytes element_;
  std::int64_t l0b_parts_;
  device::Ring l0a_, l0b_, held_, l0c_, narrow_;
};

}  // namespace assay::optimized::schedules
