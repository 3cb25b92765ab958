#pragma once

#include "assay/device/cost.hpp"
#include "assay/device/program.hpp"

namespace assay::device {

/// Writes instructions of one cube core and its two vector cores into a program, at what the
/// specification says that they cost. Starts of queued moves are latencies: the queue works on.
class Instructions {
 public:
  /// It refers to `spec`.
  explicit Instructions(const Spec& spec) : spec_(&spec) {}
  explicit Instructions(Spec&&) = delete;

  using After = std::initializer_list<TaskId>;
  /// From global memory to L1; `missing` is the part of the bytes that L2 does not hold.
  TaskId load(const Region& region, After after, double missing = 0);
  TaskId load_l0a(Bytes size, After after);
  TaskId load_l0b(Bytes size, After after);
  TaskId multiply(const Mmad& step, After after);
  /// From L0C to global memory. An atomic addition reads in L2 what it adds to.
  TaskId drain(Bytes fp32, Drain drain, After after);
  /// The same where other numbers than fp32 are stored.
  TaskId drain_as(Bytes fp32, Bytes stored, After after);
  /// From global memory to the unified buffer and back: bytes of each of the two vector cores.
  TaskId vector_load(Bytes size, After after, double missing = 0);
  TaskId compute(Cycles cycles, After after);
  TaskId vector_store(Bytes size, After after, double missing = 0);
  /// A store that adds to what global memory holds, by atomic additions.
  TaskId vector_add(Bytes size, After after, double missing = 0);
  /// So many of the two vector cores do something from here on.
  void use_vector_cores(std::int64_t count) { vector_cores_ = count; }
  /// What one kind of core waits until the other kind sees what it wrote.
  TaskId hand_over(Pipe pipe, After after);

  const Spec& spec() const { return *spec_; }
  const Program& program() const { return program_; }

 private:
  const Spec* spec_;
  std::int64_t vector_cores_ = 2;
  Program program_;
};

/// What one of `active` cores gets of L2 and HBM, when all of them work.
Share share_of(const Spec& spec, std::int64_t active);

}  // namespace assay::device
