#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/device/units.hpp"

namespace assay::device {

/// One number of a device specification, with its source and uncertainty.
struct Quantity {
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view source;  ///< public source; `sources` explains words such as ADK
  bool assumed = false;     ///< estimated or disputed: the true value is between low and high
  double low = value, high = value;
};

/// The core counts and the clock of a device.
struct Cores {
  Quantity cube, vector, clock;
};

/// The capacities of the memories. The members up to `ub` are memories of one core; the members
/// from `l2` on are shared by all cores.
struct Memories {
  Quantity l1, l0a, l0b, l0c, ub, l2, hbm;
  Quantity l1_alignment, l0_alignment, l0c_alignment, ub_alignment;
};

/// Speed of the matrix unit (the cube) and of the data moves. A fractal is the block that the cube
/// multiplies in one step: 16x16x16 for 16-bit numbers, 16x16x8 for fp32.
struct Rates {
  Quantity cube_step_16bit, cube_step_fp32, cube_start;
  Quantity gm_to_l1, package, gm_to_l1_start;
  Quantity l1_to_l0a, l1_to_l0b, l1_to_l0_start;
  Quantity l0c_read, fixpipe_write, atomic_collision, atomic_traffic;
  Quantity gm_to_ub, gm_to_ub_start, ub_to_gm, ub_to_gm_start;
  Quantity l2_bandwidth, hbm_bandwidth, hbm_efficiency;
};

/// Cost of a vector instruction on fp32: start-up cycles, and cycles per repeat of 256 B.
struct VectorCost {
  Quantity start, slope;
};

/// The cost of each vector instruction, and of a barrier between two vector instructions.
struct VectorCosts {
  VectorCost muls, add, sub, mul, div, exp, sqrt, select, cast_to_16bit, cast_to_fp32, row_sum,
      copy;
  Quantity barrier;
};

/// Time of one kernel launch, and of one synchronization between cube (matrix) and vector cores.
struct Overheads {
  Quantity handover, sync_all;
  Quantity launch, launch_cube;  ///< of a kernel with both kinds of core; with cube cores only
};

/// The specification of a device. Every number has a published source or a range.
struct Spec {
  std::string name;  ///< product name, such as "a2"
  std::string sku;
  Cores cores;
  Memories memories;
  Rates rates;
  VectorCosts vector;
  Overheads overheads;
};

/// Returns the specification of Atlas A2: 910B2, 24 cube cores at 1.8 GHz. Source: INI (see
/// `sources`).
Spec a2();
/// Returns the specification of Atlas A3: one die of 910C, since a kernel never uses two dies.
/// Source: INI, CM384 (see `sources`).
Spec a3();
Spec ascend_910b1();
Spec ascend_910b3();
Spec ascend_910b4();

/// Returns every available specification.
std::vector<Spec> devices();

/// Calls visit(quantity) for every number of a specification, in a fixed order.
template <class AnySpec, class Visitor>
void visit_quantities(AnySpec& spec, Visitor&& visit) {
  const auto each = [&](auto&... quantity) { (visit(quantity), ...); };
  const auto costs = [&](auto&... cost) { (each(cost.start, cost.slope), ...); };
  auto& [cube, vector, clock] = spec.cores;
  each(cube, vector, clock);
  auto& m = spec.memories;
  each(m.l1, m.l0a, m.l0b, m.l0c, m.ub, m.l2, m.hbm, m.l1_alignment, m.l0_alignment,
       m.l0c_alignment, m.ub_alignment);
  auto& r = spec.rates;
  each(r.cube_step_16bit, r.cube_step_fp32, r.cube_start, r.gm_to_l1, r.package, r.gm_to_l1_start,
       r.l1_to_l0a, r.l1_to_l0b, r.l1_to_l0_start, r.l0c_read, r.fixpipe_write, r.atomic_collision,
       r.atomic_traffic, r.gm_to_ub, r.gm_to_ub_start, r.ub_to_gm, r.ub_to_gm_start, r.l2_bandwidth,
       r.hbm_bandwidth, r.hbm_efficiency);
  auto& v = spec.vector;
  costs(v.muls, v.add, v.sub, v.mul, v.div, v.exp, v.sqrt, v.select, v.cast_to_16bit,
        v.cast_to_fp32, v.row_sum, v.copy);
  each(v.barrier, spec.overheads.handover, spec.overheads.launch, spec.overheads.launch_cube,
       spec.overheads.sync_all);
}

/// Returns all numbers of a device specification, with their sources.
std::vector<Quantity> quantities(const Spec& spec);

/// A short name that occurs in `Quantity::source`, and the public source that it means.
struct Source {
  std::string_view word, meaning;
};

/// Returns every short name that `Quantity::source` uses, with its meaning.
std::span<const Source> sources();

/// Converts a memory capacity (a Quantity, in bytes) to Bytes.
inline Bytes bytes_of(const Quantity& capacity) {
  return {static_cast<std::int64_t>(capacity.value)};
}

}  // namespace assay::device
