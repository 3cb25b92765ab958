#pragma once

#include <cstdint>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// The bytes of global memory that one instruction moves: either `rows` separate rows or one
/// contiguous block.
struct Region {
  std::int64_t rows = 1;
  Bytes row;
  bool contiguous = true;

  Bytes total() const { return rows * row; }
};

/// How an L0C buffer is written (drained) to global memory: replace the old values, or add to them.
enum class Drain : std::uint8_t { store, atomic_add };

/// One matrix step C += A B, with A of m x k and B of k x n numbers of `element` bytes (2 or 4).
struct Mmad {
  std::int64_t m, n, k;
  Bytes element;
};

/// Sizes of the requests into which the hardware splits a row: 512, 256 and 128 B, and one request
/// for the remainder. Source: GM request package model (NN-CM).
std::vector<Bytes> packages(Bytes row);

// The formulas of the cost model. Unit: cycles of one core.
Cycles mmad(const Spec& spec, const Mmad& step);
Cycles l1_to_l0a(const Spec& spec, Bytes size);
Cycles l1_to_l0b(const Spec& spec, Bytes size);
/// The cost of a data move without its start-up time, which overlaps with earlier moves of the
/// queue.
Cycles gm_to_l1_transfer(const Spec& spec, const Region& region);
Cycles fixpipe(const Spec& spec, Bytes fp32, Drain drain);
/// The cost of writing an L0C buffer if the sums are converted from fp32 to a type of another size
/// before the store.
Cycles fixpipe(const Spec& spec, Bytes fp32, Bytes written, Drain drain);
Cycles gm_to_ub(const Spec& spec, Bytes size);
Cycles gm_to_ub_transfer(const Spec& spec, Bytes size);
Cycles ub_to_gm(const Spec& spec, Bytes size);
Cycles ub_to_gm_transfer(const Spec& spec, Bytes size);
/// A vector instruction over `fp32` bytes of fp32 numbers, including the barrier after it.
Cycles vector(const Spec& spec, const VectorCost& operation, Bytes fp32);

/// Convert seconds to clock cycles, and clock cycles to seconds.
Cycles cycles_of(const Spec& spec, double seconds);
double seconds_of(const Spec& spec, Cycles cycles);
/// Cycles that all cores together need to move `size` bytes: through L2, and through HBM.
Cycles l2_time(const Spec& spec, Bytes size);
Cycles hbm_time(const Spec& spec, Bytes size);
/// Multiply-adds of one cube core per cycle.
double peak_rate(const Spec& spec, Bytes element);

}  // namespace assay::device
