#include "attention/tiles/block_loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "assay/reference/exp.hpp"

// All compiled versions of a loop give the same bits, because the compiler may not fuse
// multiplications and additions (as in vector_loops.cpp).
namespace assay::conformance::tiles {
namespace {

constexpr std::size_t lanes = 8;
using Lanes [[gnu::vector_size(lanes * sizeof(double))]] = double;

/// Computes four rows times two vectors of keys at once. The eight sums stay in registers.
constexpr std::size_t block_rows = 4;

template <std::size_t rows>
[[gnu::always_inline]] inline void multiply_rows(const double* x, const Line* panel,
                                                 std::size_t width, Line* out) {
  for (std::size_t c = 0; c < panel->size(); c += 2 * lanes) {
    Lanes first[rows] = {}, second[rows] = {};
    for (std::size_t d = 0; d < width; ++d) {
      Lanes a, b;
      std::memcpy(&a, panel[d].data() + c, sizeof a);
      std::memcpy(&b, panel[d].data() + c + lanes, sizeof b);
      for (std::size_t r = 0; r < rows; ++r) {
        first[r] += x[r * width + d] * a;
        second[r] += x[r * width + d] * b;
      }
    }
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(out[r].data() + c, &first[r], sizeof first[r]);
      std::memcpy(out[r].data() + c + lanes, &second[r], sizeof second[r]);
    }
  }
}

/// A sum that consists of eight partial sums. The additions of one partial sum do not wait for
/// those of another.
struct Chains {
  double chain[lanes] = {};
  double sum() const {
    double total = 0;
    for (const double x : chain) total += x;
    return total;
  }
};

}  // namespace

[[gnu::target_clones("avx512f", "avx2", "default")]] void multiply(std::span<const double> rows,
                                                                   const Line* panel,
                                                                   std::int64_t dim, Line* out) {
  const auto width = static_cast<std::size_t>(dim);
  const std::size_t count = rows.size() / width;
  std::size_t r = 0;
  for (; r + block_rows <= count; r += block_rows)
    multiply_rows<block_rows>(rows.data() + r * width, panel, width, out + r);
  for (; r < count; ++r) multiply_rows<1>(rows.data() + r * width, panel, width, out + r);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void fill_pairs(const PairRow& row,
                                                                     Pairs& pairs) {
  const double m = row.softmax_max, z = row.softmax_sum, delta = row.delta;
  const double* __restrict exponent = row.exponent.data();
  const double* __restrict dprob = row.dprob.data();
  const double* __restrict kappa = row.kappa.data();
  const double* __restrict times = pairs.times.data();
  double* __restrict prob = pairs.prob.data();
  double* __restrict dscore = pairs.dscore.data();
  double* __restrict value_prob = pairs.value_prob.data();
  for (std::size_t c = 0; c < pairs.times.size(); ++c) {
    const double p = reference::exp(exponent[c] - m) / z;
    const double often = times[c] == 0 ? 0 : p * times[c];
    prob[c] = often;
    value_prob[c] = often * kappa[c];
    dscore[c] = often * (kappa[c] * dprob[c] - delta);
  }
}

[[gnu::target_clones("avx512f", "avx2", "default")]] RowSums row_sums(const Pairs& pairs,
                                                                      const Line& key_signs) {
  Chains times, times2, prob, prob2, dscore, dscore2, signed_dscore, value, value2, signed_value;
  Chains most_dscore, most_value;
  for (std::size_t c = 0; c < key_signs.size(); c += lanes)
    for (std::size_t l = 0; l < lanes; ++l) {
      const double t = pairs.times[c + l], p = pairs.prob[c + l], ds = pairs.dscore[c + l];
      const double v = pairs.value_prob[c + l], sign = key_signs[c + l], s = std::abs(ds);
      times.chain[l] += t;
      times2.chain[l] += t * t;
      prob.chain[l] += p;
      prob2.chain[l] += p * p;
      dscore.chain[l] += s;
      dscore2.chain[l] += ds * ds;
      signed_dscore.chain[l] += sign * ds;
      value.chain[l] += v;
      value2.chain[l] += v * v;
      signed_value.chain[l] += sign * v;
      most_dscore.chain[l] = s > most_dscore.chain[l] ? s : most_dscore.chain[l];
      most_value.chain[l] = v > most_value.chain[l] ? v : most_value.chain[l];
    }
  return {.times = times.sum(),
          .times_squared = times2.sum(),
          .prob = prob.sum(),
          .prob_squared = prob2.sum(),
          .dscore = dscore.sum(),
          .dscore_squared = dscore2.sum(),
          .signed_dscore = signed_dscore.sum(),
          .value = value.sum(),
          .value_squared = value2.sum(),
          .signed_value = signed_value.sum(),
          .most_dscore = *std::ranges::max_element(most_dscore.chain),
          .most_value = *std::ranges::max_element(most_value.chain)};
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_columns(const Pairs& pairs,
                                                                      double sign,
                                                                      const ColumnErrors& errors,
                                                                      ColumnSums& sums) {
  const Linear rigorous = errors.rigorous, squares = errors.squares, linear = errors.linear;
  for (std::size_t c = 0; c < pairs.times.size(); ++c) {
    const double t = pairs.times[c], p = pairs.prob[c], ds = pairs.dscore[c], s = std::abs(ds);
    sums.value[c] += sign * ds;
    sums.magnitude[c] += s;
    sums.rigorous[c] += rigorous.prob * p + rigorous.dscore * s + rigorous.one * t;
    sums.squares[c] += squares.prob * p * p + squares.dscore * s * s + squares.one * t * t;
    sums.linear[c] += linear.prob * p + linear.dscore * s + linear.one * t;
  }
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_row(const RowFactors& factors,
                                                                  const float* x, std::int64_t dim,
                                                                  double* streams) {
  double* __restrict value = streams;
  double* __restrict magnitude = streams + dim;
  double* __restrict rigorous = streams + 2 * dim;
  double* __restrict squares = streams + 3 * dim;
  double* __restrict linear = streams + 4 * dim;
  const RowFactors f = factors;
  for (std::int64_t d = 0; d < dim; ++d) {
    const auto signed_size = static_cast<double>(x[d]);
    const double size = std::abs(signed_size);
    value[d] += f.value * signed_size;
    magnitude[d] += f.magnitude * size;
    rigorous[d] += f.rigorous * size;
    squares[d] += f.squares * (size * size);
    linear[d] += f.linear * size;
  }
}

}  // namespace assay::conformance::tiles
