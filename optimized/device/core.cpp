#include "assay/device/core.hpp"

namespace assay::device {

CubeCore::CubeCore(const Spec& spec)
    : l1("L1", bytes_of(spec.memories.l1), bytes_of(spec.memories.l1_alignment)),
      l0a("L0A", bytes_of(spec.memories.l0a), bytes_of(spec.memories.l0_alignment)),
      l0b("L0B", bytes_of(spec.memories.l0b), bytes_of(spec.memories.l0_alignment)),
      l0c("L0C", bytes_of(spec.memories.l0c), bytes_of(spec.memories.l0c_alignment)),
      spec_(&spec) {}

Cycles CubeCore::load(const Region& region, Cycles ready) {
  return timeline_.issue(Pipe::cube_mte2, ready, gm_to_l1_transfer(*spec_, region)) +
         Cycles{spec_->rates.gm_to_l1_start.value};
}

Cycles CubeCore::load_l0a(Bytes size, Cycles ready) {
  return timeline_.issue(Pipe::mte1, ready, l1_to_l0a(*spec_, size));
}

Cycles CubeCore::load_l0b(Bytes size, Cycles ready) {
  return timeline_.issue(Pipe::mte1, ready, l1_to_l0b(*spec_, size));
}

Cycles CubeCore::multiply(const Mmad& step, Cycles ready) {
  return timeline_.issue(Pipe::cube, ready, mmad(*spec_, step));
}

Cycles CubeCore::drain(Bytes fp32, Drain drain, Cycles ready) {
  return timeline_.issue(Pipe::fixpipe, ready, fixpipe(*spec_, fp32, drain));
}

VectorCore::VectorCore(const Spec& spec)
    : ub("UB", bytes_of(spec.memories.ub), bytes_of(spec.memories.ub_alignment)), spec_(&spec) {}

Cycles VectorCore::load(Bytes size, Cycles ready) {
  return timeline_.issue(Pipe::vector_mte2, ready, gm_to_ub_transfer(*spec_, size)) +
         Cycles{spec_->rates.gm_to_ub_start.value};
}

Cycles VectorCore::compute(const VectorCost& operation, Bytes fp32, Cycles ready) {
  return timeline_.issue(Pipe::vector, ready, vector(*spec_, operation, fp32));
}

Cycles VectorCore::store(Bytes size, Cycles ready) {
  return timeline_.issue(Pipe::mte3, ready, ub_to_gm_transfer(*spec_, size)) +
         Cycles{spec_->rates.ub_to_gm_start.value};
}

}  // namespace assay::device
