#include "judge/tolerance.hpp"

#include <algorithm>
#include <utility>

namespace assay::conformance {
namespace {

engine::Direction direction_of(spec::Rounding rounding) {
  switch (rounding) {
    case spec::Rounding::rne:
      return engine::Direction::nearest_even;
    case spec::Rounding::rna:
      return engine::Direction::nearest_away;
    case spec::Rounding::unknown:
      return engine::Direction::nearest;
    case spec::Rounding::stochastic:
      return engine::Direction::stochastic;
    default:
      return engine::Direction::truncated;
  }
}

}  // namespace

engine::Store store_of(spec::DType type, spec::Rounding rounding) {
  const engine::Direction direction = direction_of(rounding);
  if (type == spec::DType::bf16) return {8, -126, direction};
  if (type == spec::DType::fp16) return {11, -14, direction, overflow_threshold(type)};
  return {};
}

engine::Units units_of(const Arithmetic& n) {
  return {.u = n.u,
          .u_sum = n.u_a,
          .operands = n.u_k + 2 * n.u_x,
          .operand_deviation = 2 * n.u_x,
          .truncating = n.truncating_sums};
}

engine::Output output_of(const Arithmetic& n, std::int64_t elements) {
  return {.units = units_of(n),
          .lambda = azuma_factor(elements),
          .averages = n.mean_free,
          .store = store_of(n.io, n.numerics.round_out).losing(output_underflow_of(n.io))};
}

Expectation unmade(std::string name, spec::Extents extents, std::span<const std::int64_t> rows) {
  Expectation e{
      .name = std::move(name), .extents = std::move(extents), .rows = {rows.begin(), rows.end()}};
  e.make_room(e.row_count());
  std::ranges::fill(e.share, 1 / static_cast<double>(e.dim()));
  return e;
}

RowEntries entries_of(Expectation& e, std::int64_t row) {
  const std::int64_t first = row * e.dim();
  return {.value = e.value.data() + first,
          .radius = e.radius.data() + first,
          .tau = e.tau.data() + first,
          .tau_det = e.tau_det.data() + first,
          .sigma = e.sigma.data() + first,
          .floor = e.floor.data() + first,
          .drift = e.drift.data() + first,
          .core = e.core.data() + first,
          .accumulation = e.accumulation.data() + first,
          .extra = e.extra.data() + first};
}

}  // namespace assay::conformance
