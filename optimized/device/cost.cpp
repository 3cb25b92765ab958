#include "assay/device/cost.hpp"

#include <algorithm>

namespace assay::device {
namespace {

constexpr std::int64_t fractal_edge = 16, fractal_bytes = 32, repeat_bytes = 256;

std::int64_t fractal_depth(Bytes element) { return fractal_bytes / element.count; }

double step(const Spec& spec, Bytes element) {
  return (element.count == 4 ? spec.rates.cube_step_fp32 : spec.rates.cube_step_16bit).value;
}

double over(Bytes size, const Quantity& rate) {
  return static_cast<double>(size.count) / rate.value;
}

}  // namespace

std::vector<Bytes> packages(Bytes row) {
  std::vector<Bytes> sizes;
  std::int64_t rest = row.count;
  for (const std::int64_t size : {512, 256, 128})
    for (; rest >= size; rest -= size) sizes.push_back({size});
  if (rest > 0) sizes.push_back({rest});
  return sizes;
}

Cycles mmad(const Spec& spec, const Mmad& s) {
  const std::int64_t fractals = ceil_divide(s.m, fractal_edge) * ceil_divide(s.n, fractal_edge) *
                                ceil_divide(s.k, fractal_depth(s.element));
  return {spec.rates.cube_start.value + static_cast<double>(fractals) * step(spec, s.element)};
}

Cycles l1_to_l0a(const Spec& spec, Bytes size) {
  return {spec.rates.l1_to_l0_start.value + over(size, spec.rates.l1_to_l0a)};
}

Cycles l1_to_l0b(const Spec& spec, Bytes size) {
  return {spec.rates.l1_to_l0_start.value + over(size, spec.rates.l1_to_l0b)};
}

Cycles gm_to_l1_transfer(const Spec& spec, const Region& region) {
  if (region.contiguous) return {over(region.total(), spec.rates.gm_to_l1)};
  double row = 0;
  for (const Bytes size : packages(region.row))
    row += std::max(over(size, spec.rates.gm_to_l1), spec.rates.package.value);
  return {static_cast<double>(region.rows) * row};
}

Cycles fixpipe(const Spec& spec, Bytes fp32, Drain drain) {
  return fixpipe(spec, fp32, fp32, drain);
}

Cycles fixpipe(const Spec& spec, Bytes fp32, Bytes written, Drain drain) {
  const double plain = over(fp32, spec.rates.l0c_read) + over(written, spec.rates.fixpipe_write);
  return {drain == Drain::store ? plain : plain * spec.rates.atomic_collision.value};
}

Cycles gm_to_ub_transfer(const Spec& spec, Bytes size) { return {over(size, spec.rates.gm_to_ub)}; }

Cycles gm_to_ub(const Spec& spec, Bytes size) {
  return Cycles{spec.rates.gm_to_ub_start.value} + gm_to_ub_transfer(spec, size);
}

Cycles ub_to_gm_transfer(const Spec& spec, Bytes size) { return {over(size, spec.rates.ub_to_gm)}; }

Cycles ub_to_gm(const Spec& spec, Bytes size) {
  return Cycles{spec.rates.ub_to_gm_start.value} + ub_to_gm_transfer(spec, size);
}

Cycles vector(const Spec& spec, const VectorCost& operation, Bytes fp32) {
  const auto repeats = static_cast<double>(ceil_divide(fp32.count, repeat_bytes));
  return {operation.start.value + operation.slope.value * repeats + spec.vector.barrier.value};
}

Cycles cycles_of(const Spec& spec, double seconds) { return {seconds * spec.cores.clock.value}; }

double seconds_of(const Spec& spec, Cycles cycles) { return cycles.count / spec.cores.clock.value; }

Cycles l2_time(const Spec& spec, Bytes size) {
  return cycles_of(spec, over(size, spec.rates.l2_bandwidth));
}

Cycles hbm_time(const Spec& spec, Bytes size) {
  return cycles_of(spec, over(size, spec.rates.hbm_bandwidth) / spec.rates.hbm_efficiency.value);
}

double peak_rate(const Spec& spec, Bytes element) {
  return static_cast<double>(fractal_edge * fractal_edge * fractal_depth(element)) /
         step(spec, element);
}

}  // namespace assay::device
