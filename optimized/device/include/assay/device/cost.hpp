#pragma once

#include <cstdint>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// The bytes of global memory that one instruction moves: `rows` separate rows, or one contiguous
/// block.
struct Region {
  std::int64_t rows = 1;
  Bytes row;
  bool contiguous = true;

  Bytes total() const { return rows * row; }
};

/// How a buffer in L0C (accumulators of the matrix unit) is written to global memory: store
/// replaces the old values, atomic_add adds to them.
enum class Drain : std::uint8_t { store, atomic_add };

/// One matrix step C += A B: A has m x k numbers and B has k x n numbers, each of `element` bytes
/// (2 or 4).
struct Mmad {
  std::int64_t m, n, k;
  Bytes element;
};

/// Returns the sizes of the requests into which the hardware splits a row: 512, 256 and 128 B, and
/// one request for the remainder. Source: GM request package model (NN-CM).
std::vector<Bytes> packages(Bytes row);

// The functions of the cost model. Each returns cycles of one core.
Cycles mmad(const Spec& spec, const Mmad& step);
Cycles l1_to_l0a(const Spec& spec, Bytes size);
Cycles l1_to_l0b(const Spec& spec, Bytes size);
/// Returns the cost of a data move without its start-up time, because the start-up overlaps with
/// earlier moves of the queue.
Cycles gm_to_l1_transfer(const Spec& spec, const Region& region);
Cycles fixpipe(const Spec& spec, Bytes fp32, Drain drain);
/// Returns the cost of writing an L0C buffer (accumulators) to global memory if the fp32 sums are
/// converted to a type of another size.
Cycles fixpipe(const Spec& spec, Bytes fp32, Bytes written, Drain drain);
Cycles gm_to_ub(const Spec& spec, Bytes size);
Cycles gm_to_ub_transfer(const Spec& spec, Bytes size);
Cycles ub_to_gm(const Spec& spec, Bytes size);
Cycles ub_to_gm_transfer(const Spec& spec, Bytes size);
/// Returns the cost of a vector instruction over `fp32` bytes of fp32 numbers, including the
/// barrier after the instruction.
Cycles vector(const Spec& spec, const VectorCost& operation, Bytes fp32);

/// Convert seconds to clock cycles, and clock cycles to seconds.
Cycles cycles_of(const Spec& spec, double seconds);
double seconds_of(const Spec& spec, Cycles cycles);
/// Return the cycles that all cores together need to move `size` bytes through L2, or through HBM.
Cycles l2_time(const Spec& spec, Bytes size);
Cycles hbm_time(const Spec& spec, Bytes size);
/// Returns the multiply-adds of one cube (matrix) core per cycle.
double peak_rate(const Spec& spec, Bytes element);

}  // namespace assay::device
