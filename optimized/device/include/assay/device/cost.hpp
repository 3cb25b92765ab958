#pragma once

#include <cstdint>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// Bytes in global memory that one instruction moves: `rows` rows that lie apart, or one piece.
struct Region {
  std::int64_t rows = 1;
  Bytes row;
  bool contiguous = true;

  Bytes total() const { return rows * row; }
};

/// Whether a drain of L0C replaces or adds to what global memory holds.
enum class Drain : std::uint8_t { store, atomic_add };

/// C += A B of m x k by k x n numbers of `element` bytes (2 or 4).
struct Mmad {
  std::int64_t m, n, k;
  Bytes element;
};

/// Sizes of the requests into which a row is cut: 512, 256 and 128 B, and one for a remainder.
/// Source: GM request package model (NN-CM).
std::vector<Bytes> packages(Bytes row);

// The formulas of the device facts, section 6.2. Cycles of one core.
Cycles mmad(const Spec& spec, const Mmad& step);
Cycles l1_to_l0a(const Spec& spec, Bytes size);
Cycles l1_to_l0b(const Spec& spec, Bytes size);
/// A transfer is what a move costs beside its start, which queued moves hide.
Cycles gm_to_l1_transfer(const Spec& spec, const Region& region);
Cycles fixpipe(const Spec& spec, Bytes fp32, Drain drain);
/// The same where other numbers than fp32 are written.
Cycles fixpipe(const Spec& spec, Bytes fp32, Bytes written, Drain drain);
Cycles gm_to_ub(const Spec& spec, Bytes size);
Cycles gm_to_ub_transfer(const Spec& spec, Bytes size);
Cycles ub_to_gm(const Spec& spec, Bytes size);
Cycles ub_to_gm_transfer(const Spec& spec, Bytes size);
/// A vector instruction over `fp32` bytes, with the barrier behind it.
Cycles vector(const Spec& spec, const VectorCost& operation, Bytes fp32);

/// Cycles of the clock in `seconds`, and back.
Cycles cycles_of(const Spec& spec, double seconds);
double seconds_of(const Spec& spec, Cycles cycles);
/// Cycles in which all cores together can move `size` through L2, and through HBM.
Cycles l2_time(const Spec& spec, Bytes size);
Cycles hbm_time(const Spec& spec, Bytes size);
/// Multiply-adds of one cube core per cycle.
double peak_rate(const Spec& spec, Bytes element);

}  // namespace assay::device
