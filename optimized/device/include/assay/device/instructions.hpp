#pragma once

#include "assay/device/cost.hpp"
#include "assay/device/program.hpp"

namespace assay::device {

/// Appends instructions for one cube (matrix) core and its two vector cores to a program. The costs
/// come from the device specification. The start-up time of a move counts as latency: the queue
/// continues with the next move in the meantime.
class Instructions {
 public:
  /// Keeps a reference to `spec`.
  explicit Instructions(const Spec& spec) : spec_(&spec) {}
  explicit Instructions(Spec&&) = delete;

  using After = std::initializer_list<TaskId>;
  /// Loads from global memory to L1. `missing`: fraction of the bytes that are not in the L2 cache.
  TaskId load(const Region& region, After after, double missing = 0);
  TaskId load_l0a(Bytes size, After after);
  TaskId load_l0b(Bytes size, After after);
  TaskId multiply(const Mmad& step, After after);
  /// Writes an L0C buffer (accumulators) to global memory. An atomic addition also reads the old
  /// values from L2.
  TaskId drain(Bytes fp32, Drain drain, After after);
  /// Writes an L0C buffer (accumulators) to global memory like `drain`, but converts the fp32 sums
  /// to a type of another size before the store.
  TaskId drain_as(Bytes fp32, Bytes stored, After after);
  /// Loads or stores between global memory and the unified buffer. Each of the two vector cores
  /// moves `size` bytes.
  TaskId vector_load(Bytes size, After after, double missing = 0);
  TaskId compute(Cycles cycles, After after);
  TaskId vector_store(Bytes size, After after, double missing = 0);
  /// Adds results of the vector cores to values in global memory by atomic additions.
  TaskId vector_add(Bytes size, After after, double missing = 0);
  /// Sets whether the following instructions use one or both of the two vector cores.
  void use_vector_cores(std::int64_t count) { vector_cores_ = count; }
  /// Synchronizes cube (matrix) and vector cores: waits until the cores of one kind can read the
  /// data that the cores of the other kind wrote.
  TaskId add_handover(Pipe pipe, After after);

  const Spec& spec() const { return *spec_; }
  const Program& program() const { return program_; }

 private:
  const Spec* spec_;
  std::int64_t vector_cores_ = 2;
  Program program_;
};

/// Returns the L2 and HBM bandwidth of one core if `active` cores share the bandwidth of the
/// device.
Share share_of(const Spec& spec, std::int64_t active);

}  // namespace assay::device
