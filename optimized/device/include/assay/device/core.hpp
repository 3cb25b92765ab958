#pragma once

#include "assay/device/cost.hpp"
#include "assay/device/scratchpad.hpp"
#include "assay/device/timeline.hpp"

namespace assay::device {

/// A cube core: buffers that hold tiles and queues that move and multiply them. Each operation
/// returns when it ends; the caller passes when its operands are ready.
class CubeCore {
 public:
  /// It refers to `spec`.
  explicit CubeCore(const Spec& spec);
  explicit CubeCore(Spec&&) = delete;

  Cycles load(const Region& region, Cycles ready);
  Cycles load_l0a(Bytes size, Cycles ready);
  Cycles load_l0b(Bytes size, Cycles ready);
  Cycles multiply(const Mmad& step, Cycles ready);
  Cycles drain(Bytes fp32, Drain drain, Cycles ready);

  const Timeline& timeline() const { return timeline_; }
  Scratchpad l1, l0a, l0b, l0c;

 private:
  const Spec* spec_;
  Timeline timeline_;
};

/// A vector core: the unified buffer, its loads, its instructions and its stores.
class VectorCore {
 public:
  /// It refers to `spec`.
  explicit VectorCore(const Spec& spec);
  explicit VectorCore(Spec&&) = delete;

  Cycles load(Bytes size, Cycles ready);
  Cycles compute(const VectorCost& operation, Bytes fp32, Cycles ready);
  Cycles store(Bytes size, Cycles ready);

  const Timeline& timeline() const { return timeline_; }
  Scratchpad ub;

 private:
  const Spec* spec_;
  Timeline timeline_;
};

}  // namespace assay::device
