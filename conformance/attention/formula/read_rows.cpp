#include "attention/formula/rows.hpp"

/// This file is compiled once for each instruction set (macro ASSAY_INSTRUCTIONS).
namespace assay::conformance::attention {
namespace {

using engine::Lanes;
using engine::lanes_at;
using Compiled = engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>;

constexpr std::size_t step = engine::lanes_of<Lanes>;

/// The sums of adjacent columns, one in each lane.
struct Sums {
  Lanes sum{}, magnitudes{}, squares{};

  [[gnu::always_inline]] void add(const Lanes& product) {
    sum += product;
    magnitudes += magnitude_of(product);
    squares += product * product;
  }
  [[gnu::always_inline]] void put_at(std::size_t key, const ProductArrays& to) const {
    engine::put(to.sum + key, sum);
    engine::put(to.magnitudes + key, magnitudes);
    engine::put(to.squares + key, squares);
  }
};

[[gnu::always_inline]] inline void enlarge(Lanes& largest, const Lanes& x) {
  largest = x > largest ? x : largest;
}

}  // namespace

template <>
void multiply_row(Compiled, const float* row, const KeyColumns& columns, std::size_t keys,
                  const ProductArrays& to) {
  static_assert(keys_of_step % (2 * step) == 0);
  for (std::size_t key = 0; key < keys; key += 2 * step) {
    Sums left, right;
    const double* column = columns.first + key;
    for (std::int64_t d = 0; d < columns.dim; ++d, column += columns.pitch) {
      const auto x = static_cast<double>(row[d]);
      left.add(x * lanes_at(column, 0));
      right.add(x * lanes_at(column, step));
    }
    left.put_at(key, to);
    right.put_at(key + step, to);
  }
}

template <>
void read_scores(Compiled, const Call& call, const Row<double>& row, std::size_t keys,
                 const ScoreInputs& of, const ScoreArrays& to) {
  const engine::ToleranceReading<Lanes, symbols> on(call.units, {});
  for (std::size_t k = 0; k < keys; k += step) {
    const auto key = static_cast<std::int64_t>(k);
    const Pair<Lanes> pair = {
        {lanes_at(of.sum, key), lanes_at(of.magnitudes, key), lanes_at(of.squares, key)},
        {},
        engine::filled<Lanes>(1.0),
        lanes_at(of.bias, key)};
    const auto score = stored_score(on, call, row, pair);
    engine::put(to.value + k, score.value);
    engine::put(to.rigorous + k, score.rigorous);
    engine::put(to.squares + k, score.squares);
    engine::put(to.shared + k, score.shared);
  }
}

template <>
void limit_scores(Compiled, std::size_t keys, const double* times, const ScoreArrays& scores,
                  double lambda, ScoreLimits& to) {
  const Lanes none = engine::filled<Lanes>(-HUGE_VAL);
  Lanes low = none, exact = none, high = none, likely_low = none, likely_high = none;
  Lanes least = -none;
  for (std::size_t k = 0; k < keys; k += step) {
    const auto key = static_cast<std::int64_t>(k);
    const auto occurs = lanes_at(times, key) != 0.0;
    const Lanes value = lanes_at(scores.value, key), error = lanes_at(scores.rigorous, key);
    Lanes likely = error;
    if (lambda >= 0) {
      likely =
          lambda * engine::root_of(lanes_at(scores.squares, key)) + lanes_at(scores.shared, key);
      likely = error < likely ? error : likely;
    }
    enlarge(low, occurs ? value - error : none);
    enlarge(exact, occurs ? value : none);
    enlarge(high, occurs ? value + error : none);
    enlarge(likely_low, occurs ? value - likely : none);
    enlarge(likely_high, occurs ? value + likely : none);
    const Lanes own = occurs ? value : -none;
    least = own < least ? own : least;
  }
  for (std::size_t k = 0; k < step; ++k) {
    to.low = low[k] > to.low ? low[k] : to.low;
    to.exact = exact[k] > to.exact ? exact[k] : to.exact;
    to.high = high[k] > to.high ? high[k] : to.high;
    to.likely_low = likely_low[k] > to.likely_low ? likely_low[k] : to.likely_low;
    to.likely_high = likely_high[k] > to.likely_high ? likely_high[k] : to.likely_high;
    to.least = least[k] < to.least ? least[k] : to.least;
  }
  // Changes -0 to 0. If several keys have scores of 0, the number of lanes would decide which
  // sign remains.
  for (double* limit : {&to.low, &to.exact, &to.high, &to.likely_low, &to.likely_high, &to.least})
    *limit += 0.0;
}

template <>
void read_weights(Compiled, std::size_t keys, const ScoreArrays& scores, double max,
                  const ArgumentError& error, double* weights, double* growth) {
  for (std::size_t k = 0; k < keys; k += step) {
    const auto key = static_cast<std::int64_t>(k);
    engine::put(weights + k, engine::exponential(Lanes(lanes_at(scores.value, key) - max)));
    const Lanes of_argument = lanes_at(scores.rigorous, key) + error.of_exp + error.of_rescaling;
    engine::put(growth + k, engine::growth(of_argument));
  }
}

template <>
void exponentiate(Compiled, std::size_t keys, double max, double* x) {
  for (std::size_t k = 0; k < keys; k += step)
    engine::put(x + k, engine::exponential(Lanes(lanes_at(x, static_cast<std::int64_t>(k)) - max)));
}

}  // namespace assay::conformance::attention
