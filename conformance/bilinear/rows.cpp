#include "bilinear/rows.hpp"

#include <algorithm>
#include <array>

/// This file is compiled once for each instruction set; the macro ASSAY_INSTRUCTIONS selects it.
namespace assay::conformance::bilinear {
namespace {

using engine::Lanes;
using Compiled = engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>;
using RowSum = engine::SumOverRows<0, Lanes>;
constexpr std::int64_t lanes = engine::lanes_of<Lanes>;
/// Partial sums, each of every eighth channel, so that the bits of their total do not depend on the
/// number of lanes.
using PartialSums = std::array<RowSum, engine::most_lanes / lanes>;

/// Returns the elements of a row from channel c on. Lanes after the last channel are 0.
[[gnu::always_inline]] inline Lanes channels_at(const double* row, std::int64_t c,
                                                std::int64_t count) {
  if (c + lanes <= count) return engine::lanes_at(row, c);
  Lanes x{};
  __builtin_memcpy(&x, row + c, static_cast<std::size_t>(count - c) * sizeof(double));
  return x;
}

/// Converts a sum of products to the number type in which the engine evaluates the formula.
template <class V>
[[gnu::always_inline]] inline engine::Tolerance<V, 0> number_of(const engine::ElementOf<V>& x) {
  return {x.value, x.rigorous, x.rigorous, x.squares, x.moment, x.shared, {}};
}

/// Adds partial sums over channels to the element `to`, which has the sums of other row pairs.
[[gnu::always_inline]] inline void add_partial_sums(const PartialSums& sums, engine::Element& to) {
  for (const RowSum& sum : sums) {
    const engine::ElementOf<Lanes>& x = sum.element();
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
}

[[gnu::always_inline]] inline void add_pair(engine::ToleranceReading<Lanes, 0>& on,
                                            const Call& call, const Pairs& pairs, std::int64_t k,
                                            PartialSums& sums) {
  std::size_t part = 0;
  for (std::int64_t c = 0; c < pairs.channels; c += lanes) {
    sums[part].add(product(on, call, channels_at(pairs.left[k], c, pairs.channels),
                           channels_at(pairs.right[k], c, pairs.channels)),
                   {}, engine::filled<Lanes>(1));
    part = (part + 1) % sums.size();
  }
}

}  // namespace

template <>
double read_row(Compiled, const Call& call, const Pairs& pairs, const engine::Output& output,
                double floor, const RowEntries& to) {
  engine::ToleranceReading<Lanes, 0> on(call.units, {});
  Lanes largest{};
  for (std::int64_t c = 0; c < pairs.channels; c += lanes) {
    RowSum sum;
    for (std::int64_t k = 0; k < pairs.count; ++k) {
      auto staged = product(on, call, engine::filled<Lanes>(pairs.factors[k]),
                            channels_at(pairs.right[k], c, pairs.channels));
      staged.number = contribution(on, call, staged.number, Lanes{}, 0);
      sum.add(staged, {}, engine::filled<Lanes>(1));
    }
    auto bound = engine::bound_of(sum.element(), output, engine::filled<Lanes>(floor));
    bound.radius = engine::sum_radius(sum.element());
    largest = engine::larger_of(bound.largest, largest);  // ignores NaN
    put(to, c, bound, std::min(lanes, pairs.channels - c));
  }
  double most = 0;
  for (int k = 0; k < lanes; ++k) most = most < largest[k] ? largest[k] : most;
  return most;
}

template <>
engine::Element read_contraction(Compiled, const Call& call, const Pairs& pairs) {
  engine::ToleranceReading<Lanes, 0> on(call.units, {});
  engine::ToleranceReading<double, 0> of_sums(call.units, {});
  const auto channels = static_cast<double>(pairs.channels);
  engine::Element all;
  PartialSums unrounded;
  for (std::int64_t k = 0; k < pairs.count; ++k) {
    if (!call.part.rounds()) {
      add_pair(on, call, pairs, k, unrounded);
      continue;
    }
    PartialSums sums;
    engine::Element pair;
    add_pair(on, call, pairs, k, sums);
    add_partial_sums(sums, pair);
    const auto part = contribution(of_sums, call, number_of(pair), pair.magnitude, channels);
    all.value += part.value;
    all.magnitude += pair.magnitude;
    all.rigorous += part.rigorous;
    all.squares += part.squares;
    all.moment += part.moment;
    all.drift += pair.drift;
    all.value_squares += pair.value_squares;
  }
  add_partial_sums(unrounded, all);
  all.terms = static_cast<double>(pairs.count) * channels;
  return all;
}

}  // namespace assay::conformance::bilinear
