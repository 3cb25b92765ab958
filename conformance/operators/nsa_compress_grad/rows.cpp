#include "operators/nsa_compress_grad/rows.hpp"

#include <algorithm>

/// Compiled once for each instruction set, ASSAY_INSTRUCTIONS.
namespace assay::conformance::compress {
namespace {

using engine::Lanes;
using Compiled = engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>;
using Sum = engine::SumOverRows<0, Lanes>;
constexpr std::int64_t lanes = engine::lanes_of<Lanes>;

/// Returns the elements of a row from channel c on; 0 after its last channel.
[[gnu::always_inline]] inline Lanes channels_at(const double* row, std::int64_t c,
                                                std::int64_t count) {
  if (c + lanes <= count) return engine::lanes_at(row, c);
  Lanes x{};
  __builtin_memcpy(&x, row + c, static_cast<std::size_t>(count - c) * sizeof(double));
  return x;
}

/// Converts a sum of products to the number type with which the formula is evaluated.
template <class V>
[[gnu::always_inline]] inline engine::Tolerance<V, 0> number_of(const engine::ElementOf<V>& x) {
  return {x.value, x.rigorous, x.rigorous, x.squares, x.moment, x.shared, {}};
}

/// Adds the SIMD lanes of a sum over channels to the sums of other windows.
[[gnu::always_inline]] inline void add_lanes(const engine::ElementOf<Lanes>& x,
                                             engine::Element& to) {
  for (int k = 0; k < lanes; ++k) {
    to.value += x.value[k];
    to.magnitude += x.magnitude[k];
    to.rigorous += x.rigorous[k];
    to.squares += x.squares[k];
    to.moment += x.moment[k];
    to.drift += x.drift[k];
    to.value_squares += x.value_squares[k];
  }
}

[[gnu::always_inline]] inline void add_window(engine::ToleranceReading<Lanes, 0>& on,
                                              const Call& call, const Windows& windows,
                                              std::int64_t k, Sum& sum) {
  for (std::int64_t c = 0; c < windows.channels; c += lanes)
    sum.add(product(on, call, channels_at(windows.gradients[k], c, windows.channels),
                    channels_at(windows.inputs[k], c, windows.channels)),
            {}, engine::filled<Lanes>(1));
}

}  // namespace

template <>
double read_input_row(Compiled, const Call& call, const Windows& windows,
                      const engine::Output& output, double floor, const RowEntries& to) {
  engine::ToleranceReading<Lanes, 0> on(call.units, {});
  Lanes largest{};
  for (std::int64_t c = 0; c < windows.channels; c += lanes) {
    Sum sum;
    for (std::int64_t k = 0; k < windows.count; ++k) {
      auto staged = product(on, call, engine::filled<Lanes>(windows.weights[k]),
                            channels_at(windows.gradients[k], c, windows.channels));
      staged.number = contribution(on, call, staged.number, Lanes{}, 0);
      sum.add(staged, {}, engine::filled<Lanes>(1));
    }
    auto bound = engine::bound_of(sum.element(), output, engine::filled<Lanes>(floor));
    bound.radius = engine::sum_radius(sum.element());
    largest = engine::larger_of(largest, bound.largest);
    put(to, c, bound, std::min(lanes, windows.channels - c));
  }
  double most = 0;
  for (int k = 0; k < lanes; ++k) most = most < largest[k] ? largest[k] : most;
  return most;
}

template <>
engine::Element read_weight(Compiled, const Call& call, const Windows& windows) {
  engine::ToleranceReading<Lanes, 0> on(call.units, {});
  engine::ToleranceReading<double, 0> of_sums(call.units, {});
  const auto channels = static_cast<double>(windows.channels);
  engine::Element all;
  Sum unrounded;
  for (std::int64_t k = 0; k < windows.count; ++k) {
    if (!call.part.rounds()) {
      add_window(on, call, windows, k, unrounded);
      continue;
    }
    Sum sum;
    engine::Element window;
    add_window(on, call, windows, k, sum);
    add_lanes(sum.element(), window);
    const auto part = contribution(of_sums, call, number_of(window), window.magnitude, channels);
    all.value += part.value;
    all.magnitude += window.magnitude;
    all.rigorous += part.rigorous;
    all.squares += part.squares;
    all.moment += part.moment;
    all.drift += window.drift;
    all.value_squares += window.value_squares;
  }
  add_lanes(unrounded.element(), all);
  all.terms = static_cast<double>(windows.count) * channels;
  return all;
}

}  // namespace assay::conformance::compress
