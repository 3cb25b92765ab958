#include "attention/bound/finish.hpp"

#include <algorithm>

#include "attention/bound/sums.hpp"

/// Compiled once for each kind of instructions, ASSAY_INSTRUCTIONS.
namespace assay::conformance::flash {
namespace {

using engine::Lanes;
constexpr int lanes = engine::lanes_of<Lanes>;

/// E15. Of eight elements from d on.
[[gnu::always_inline]] inline SumsOf<Lanes> sums_of(const SummedRow& row, std::size_t d,
                                                    const Lanes& floor) {
  const engine::ElementRow& all = *row.elements;
  const auto eight = [](const double* numbers) { return engine::lanes_at(numbers, 0); };
  const double size = engine::magnitude_of(row.factor), squared = engine::square(row.factor);
  const Lanes magnitude = size * eight(all.magnitude(d));
  const Lanes first = eight(all.by_constant(0, d)), second = eight(all.by_constant(1, d));
  return {.ref = row.factor * eight(all.value(d)),
          .magnitude = magnitude,
          .rig = size * eight(all.rigorous(d)),
          .azuma = squared * eight(all.squares(d)),
          .linear = size * eight(all.shared(d)),
          .squares = squared * eight(all.value_squares(d)),
          .core = squared * eight(all.moment(d)),
          .drift = row.factor * eight(all.drift(d)),
          .terms = row.terms,
          .constants = size * (engine::magnitude_of(first) + engine::magnitude_of(second)),
          .scaled_operand = 2.0 * (row.operand * magnitude + row.lost),
          .partials = size * eight(all.partials(d)),
          .heads = row.heads,
          .floor = floor};
}

/// The first `count` lanes.
[[gnu::always_inline]] inline void put(double* to, const Lanes& x, std::int64_t count) {
  __builtin_memcpy(to, &x, static_cast<std::size_t>(count) * sizeof(double));
}
[[gnu::always_inline]] inline void put(float* to, const Lanes& x, std::int64_t count) {
  const engine::FloatLanes narrowed = __builtin_convertvector(x, engine::FloatLanes);
  __builtin_memcpy(to, &narrowed, static_cast<std::size_t>(count) * sizeof(float));
}

/// `count` elements from the k-th of the row on.
[[gnu::always_inline]] inline void finish(const Arithmetic& arithmetic, double lambda,
                                          const SummedRow& row, std::int64_t k, std::int64_t count,
                                          const RowEntries& to) {
  Lanes floor{};
  __builtin_memcpy(&floor, row.floor + k, static_cast<std::size_t>(count) * sizeof(double));
  const Finished<Lanes> x =
      finished(arithmetic, lambda, sums_of(row, static_cast<std::size_t>(row.first + k), floor));
  put(to.value + k, x.value, count);
  put(to.radius + k, x.radius, count);
  put(to.tau + k, x.tau, count);
  put(to.tau_det + k, x.tau_det, count);
  put(to.sigma + k, x.sigma, count);
  put(to.floor + k, x.floor, count);
  put(to.drift + k, x.drift, count);
  put(to.core + k, x.core, count);
  put(to.accumulation + k, x.accumulation, count);
  put(to.extra + k, x.extra, count);
}

}  // namespace

template <>
void finish_row(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
                const Arithmetic& arithmetic, double lambda, const SummedRow& row,
                const RowEntries& to) {
  for (std::int64_t k = 0; k < row.count; k += lanes)
    finish(arithmetic, lambda, row, k, std::min<std::int64_t>(lanes, row.count - k), to);
}

}  // namespace assay::conformance::flash
