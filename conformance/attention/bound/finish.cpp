#include "attention/bound/finish.hpp"

#include "attention/bound/sums.hpp"

/// Compiled once for each kind of instructions, ASSAY_INSTRUCTIONS.
namespace assay::conformance::flash {
namespace {

using engine::Lanes;
constexpr int lanes = engine::lanes_of<Lanes>;

/// A member of eight elements.
template <class Member>
[[gnu::always_inline]] inline Lanes gathered(const engine::Element* elements,
                                             const Member& member) {
  Lanes x{};
  for (int k = 0; k < lanes; ++k) x[k] = member(elements[k]);
  return x;
}

/// E15.
[[gnu::always_inline]] inline SumsOf<Lanes> sums_of(const engine::Element* elements,
                                                    const SummedRow& row, const Lanes& floor) {
  using Element = engine::Element;
  const double size = engine::magnitude_of(row.factor), squared = engine::square(row.factor);
  const auto all = [&](auto member) { return gathered(elements, member); };
  const Lanes magnitude = size * all([](const Element& x) { return x.magnitude; });
  const Lanes first = all([](const Element&x) { return x.by_constant[0]; }),
              second = all([](const Element&x) { return x.by_constant[1]; });
  return {.ref = row.factor * all([](const Element& x) { return x.value; }),
          .magnitude = magnitude,
          .rig = size * all([](const Element& x) { return x.rigorous; }),
          .azuma = squared * all([](const Element& x) { return x.squares; }),
          .linear = size * all([](const Element& x) { return x.shared; }),
          .squares = squared * all([](const Element& x) { return x.value_squares; }),
          .core = squared * all([](const Element& x) { return x.moment; }),
          .drift = row.factor * all([](const Element& x) { return x.drift; }),
          .terms = row.terms,
          .constants = size * (engine::magnitude_of(first) + engine::magnitude_of(second)),
          .scaled_operand = 2.0 * (row.operand * magnitude + row.lost),
          .partials = size * all([](const Element& x) { return x.partials; }),
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

/// `count` elements from the k-th of the row on, which are there to the eighth.
[[gnu::always_inline]] inline void finish(const Arithmetic& arithmetic, double lambda,
                                          const SummedRow& row, const engine::Element* elements,
                                          std::int64_t k, std::int64_t count,
                                          const RowEntries& to) {
  Lanes floor{};
  __builtin_memcpy(&floor, row.floor + k, static_cast<std::size_t>(count) * sizeof(double));
  const Finished<Lanes> x = finished(arithmetic, lambda, sums_of(elements, row, floor));
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
  std::int64_t k = 0;
  for (; k + lanes <= row.count; k += lanes)
    finish(arithmetic, lambda, row, row.elements + k, k, lanes, to);
  if (k == row.count) return;
  engine::Element last[lanes] = {};
  for (std::int64_t rest = 0; rest < row.count - k; ++rest) last[rest] = row.elements[k + rest];
  finish(arithmetic, lambda, row, last, k, row.count - k, to);
}

}  // namespace assay::conformance::flash
