#include "assay/device/instructions.hpp"

#include <cmath>

namespace assay::device {
namespace {

Bytes part(double share, Bytes size) {
  return {static_cast<std::int64_t>(std::llround(share * static_cast<double>(size.count)))};
}

}  // namespace

TaskId Instructions::load(const Region& region, After after, double missing) {
  return program_.add({.pipe = Pipe::cube_mte2,
                       .cycles = gm_to_l1_transfer(*spec_, region),
                       .latency = {spec_->rates.gm_to_l1_start.value},
                       .l2 = region.total(),
                       .hbm = part(missing, region.total())},
                      after);
}

TaskId Instructions::load_l0a(Bytes size, After after) {
  return program_.add({.pipe = Pipe::mte1, .cycles = l1_to_l0a(*spec_, size)}, after);
}

TaskId Instructions::load_l0b(Bytes size, After after) {
  return program_.add({.pipe = Pipe::mte1, .cycles = l1_to_l0b(*spec_, size)}, after);
}

TaskId Instructions::multiply(const Mmad& step, After after) {
  return program_.add({.pipe = Pipe::cube, .cycles = mmad(*spec_, step)}, after);
}

TaskId Instructions::drain(Bytes fp32, Drain drain, After after) {
  return program_.add(
      {.pipe = Pipe::fixpipe,
       .cycles = fixpipe(*spec_, fp32, drain),
       .l2 = drain == Drain::store ? fp32 : part(spec_->rates.atomic_traffic.value, fp32)},
      after);
}

TaskId Instructions::drain_as(Bytes fp32, Bytes stored, After after) {
  return program_.add(
      {.pipe = Pipe::fixpipe, .cycles = fixpipe(*spec_, fp32, stored, Drain::store), .l2 = stored},
      after);
}

TaskId Instructions::vector_load(Bytes size, After after, double missing) {
  const Bytes both = vector_cores_ * size;
  return program_.add({.pipe = Pipe::vector_mte2,
                       .cycles = gm_to_ub_transfer(*spec_, size),
                       .latency = {spec_->rates.gm_to_ub_start.value},
                       .l2 = both,
                       .hbm = part(missing, both)},
                      after);
}

TaskId Instructions::compute(Cycles cycles, After after) {
  return program_.add({.pipe = Pipe::vector, .cycles = cycles}, after);
}

TaskId Instructions::vector_store(Bytes size, After after, double missing) {
  const Bytes both = vector_cores_ * size;
  return program_.add({.pipe = Pipe::mte3,
                       .cycles = ub_to_gm_transfer(*spec_, size),
                       .latency = {spec_->rates.ub_to_gm_start.value},
                       .l2 = both,
                       .hbm = part(missing, both)},
                      after);
}

TaskId Instructions::vector_add(Bytes size, After after, double missing) {
  const Bytes all = vector_cores_ * size;
  return program_.add({.pipe = Pipe::mte3,
                       .cycles = ub_to_gm_transfer(*spec_, size),
                       .latency = {spec_->rates.ub_to_gm_start.value},
                       .l2 = part(spec_->rates.atomic_traffic.value, all),
                       .hbm = part(missing, all)},
                      after);
}

TaskId Instructions::add_handover(Pipe pipe, After after) {
  return program_.add({.pipe = pipe, .latency = {spec_->overheads.handover.value}}, after);
}

Share share_of(const Spec& spec, std::int64_t active) {
  const double cycles = static_cast<double>(active) * spec.cores.clock.value;
  return {.l2 = spec.rates.l2_bandwidth.value / cycles,
          .hbm = spec.rates.hbm_bandwidth.value * spec.rates.hbm_efficiency.value / cycles};
}

}  // namespace assay::device
