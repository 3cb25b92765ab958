#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "assay/engine/blocks/pairs.hpp"
#include "attention/formula/pair.hpp"

/// Loops over the keys of one query row, in SIMD lanes.
namespace assay::conformance::attention {

/// The loops read and write whole steps of this many keys. Arrays of keys are long enough for that:
/// see `padded_keys`.
inline constexpr std::size_t keys_of_step = 16;

/// Returns the smallest multiple of `keys_of_step` that is at least `keys`.
inline std::size_t padded_keys(std::size_t keys) {
  return (keys + keys_of_step - 1) / keys_of_step * keys_of_step;
}

/// Some consecutive columns (keys) of a matrix. Its rows are channels, `pitch` numbers apart.
struct KeyColumns {
  const double* first = nullptr;
  std::int64_t dim = 0, pitch = 0;
};

/// Arrays with one number per key: sums of products over the channels, of their magnitudes and of
/// their squares.
struct ProductArrays {
  double *sum, *magnitudes, *squares;
};

/// Computes the three sums of row[d] * column[d] for `keys` columns. Adds the channels in ascending
/// order.
template <engine::Instructions instructions>
void multiply_row(engine::CompiledFor<instructions>, const float* row, const KeyColumns& columns,
                  std::size_t keys, const ProductArrays& to);

/// Arrays with one number per key of a row: the inputs of its score.
struct ScoreInputs {
  const double *sum, *magnitudes, *squares, *bias;
};
/// Arrays with one number per key of a row: the score that a kernel stores, and its errors
/// (engine::Tolerance).
struct ScoreArrays {
  double *value, *rigorous, *squares, *shared;
};

/// Equation E4. Computes the scores of `keys` keys as the kernel stores them.
template <engine::Instructions instructions>
void read_scores(engine::CompiledFor<instructions>, const Call& call, const Row<double>& row,
                 std::size_t keys, const ScoreInputs& of, const ScoreArrays& to);

/// Limits of the maximum of a row: of all scores x, the largest x - error, x and x + error, and the
/// smallest x. `likely`: for the probable errors.
struct ScoreLimits {
  double low = -HUGE_VAL, exact = -HUGE_VAL, high = -HUGE_VAL, least = HUGE_VAL;
  double likely_low = -HUGE_VAL, likely_high = -HUGE_VAL;

  void add(double score, double error, double likely) {
    low = std::max(low, score - error);
    exact = std::max(exact, score);
    high = std::max(high, score + error);
    likely_low = std::max(likely_low, score - likely);
    likely_high = std::max(likely_high, score + likely);
    least = std::min(least, score);
  }
};
/// Computes the limits of the keys that occur (times != 0). The probable error is lambda
/// sqrt(squares) + shared, and at most `rigorous`; with `lambda` < 0 it is `rigorous`. A limit of 0
/// has no sign.
template <engine::Instructions instructions>
void limit_scores(engine::CompiledFor<instructions>, std::size_t keys, const double* times,
                  const ScoreArrays& scores, double lambda, ScoreLimits& to);

/// The errors of the argument of exp that all keys of a row share: of exp, and of rescaling.
struct ArgumentError {
  double of_exp = 0, of_rescaling = 0;
};
/// Computes e^(value - max), and the largest relative error of this number. The error of its
/// argument is `rigorous` plus `error`.
template <engine::Instructions instructions>
void read_weights(engine::CompiledFor<instructions>, std::size_t keys, const ScoreArrays& scores,
                  double max, const ArgumentError& error, double* weights, double* growth);

/// Replaces x by e^(x - max).
template <engine::Instructions instructions>
void exponentiate(engine::CompiledFor<instructions>, std::size_t keys, double max, double* x);

}  // namespace assay::conformance::attention
