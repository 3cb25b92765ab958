#include "judge/elements/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/spec/at.hpp"
#include "judge/elements/row_loops.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance {
namespace {

constexpr double bias_limit = 0.08, bias_t_limit = 8;
constexpr std::int64_t bias_rows = 32;

using spec::at;

double square(double x) { return x * x; }

/// Equation E29: returns a limit for the root mean square, from the tail bound of Laurent and
/// Massart for the chi-square distribution.
double rms_limit(double nu) {
  const double x = -std::log(false_positive);
  return std::max(1.05, std::sqrt(1 + 2 * std::sqrt(x / nu) + 2 * x / nu));
}

/// The errors that `Moments` adds up, for at most `few` elements of a row at a time.
constexpr std::size_t few = 64;
struct Errors {
  std::array<double, few> error, of_cast;
  std::array<std::int64_t, few> is_informative, is_biased;
};

/// Computes the errors of elements `first` to `first + count - 1`.
void fill(const JudgedRow& row, std::size_t first, std::size_t count, const Arithmetic& arithmetic,
          Errors& errors) {
  fill_moments({row.e, first, count, row.values.data() + (first - row.first())}, arithmetic,
               {errors.error.data(), errors.of_cast.data(), errors.is_informative.data(),
                errors.is_biased.data()});
}

}  // namespace

void Moments::add(const JudgedRow& row, const Arithmetic& arithmetic) {
  if (!arithmetic.mean_free || arithmetic.truncating_sums) return;
  const Expectation& e = row.e;
  dim_ = e.dim(), biasable_ = e.biasable;
  const double share = e.share[at(row.r)];
  if (row.is_exempt() || !(share > 0)) return;
  double signed_sum = 0;
  std::int64_t in_row = 0;
  Errors errors;
  for (std::size_t first = row.first(); first < row.last(); first += few) {
    const std::size_t count = std::min(few, row.last() - first);
    fill(row, first, count, arithmetic, errors);
    for (std::size_t d = 0; d < count; ++d) {
      if (errors.is_informative[d] == 0) continue;
      const double error = errors.error[d], of_cast = errors.of_cast[d];
      squares_ += error * error, of_casts_ += of_cast * of_cast;
      shares_ += share;
      ++elements_;
      if (errors.is_biased[d] != 0) continue;
      // Subtract the known error of the final cast. If many rows are nearly equal, this error is
      // the same in all of them and would bias the mean.
      const double beyond_cast = error - of_cast;
      signed_sum += e.value[first + d] < 0 ? -beyond_cast : beyond_cast;
      ++in_row;
    }
  }
  if (in_row == 0) return;
  const double mean = signed_sum / static_cast<double>(in_row);
  row_sum_ += mean, row_squares_ += mean * mean;
  ++rows_;
}

void Moments::append(const Moments& later) {
  if (later.dim_ != 0) dim_ = later.dim_, biasable_ = later.biasable_;
  squares_ += later.squares_, of_casts_ += later.of_casts_, shares_ += later.shares_;
  row_sum_ += later.row_sum_, row_squares_ += later.row_squares_;
  elements_ += later.elements_, rows_ += later.rows_;
}

/// E29.
Statistics Moments::statistics(const Arithmetic& arithmetic) const {
  Statistics s;
  if (elements_ == 0) return s;
  const double judged = static_cast<double>(elements_);
  s.rms = std::sqrt(squares_ / judged);
  s.nu = square(judged) / (static_cast<double>(dim_) * shares_);
  // The errors of the final casts are known exactly. If many rows are nearly equal, only few
  // different values are cast, and many of them may be near a tie. Even a correct kernel then has a
  // large root mean square. Therefore the limit grows with the root mean square of the cast errors.
  s.rms_limit = rms_limit(s.nu) * std::max(1.0, std::sqrt(of_casts_ / judged));
  s.rms_fails = s.rms > s.rms_limit;
  if (rows_ < bias_rows || arithmetic.row_coherent || !biasable_) return s;
  const double count = static_cast<double>(rows_);
  s.bias = row_sum_ / count;
  const double variance = std::max(0.0, row_squares_ / count - s.bias * s.bias) / (count - 1);
  s.bias_t = variance > 0 ? s.bias / std::sqrt(variance) : 0;
  s.bias_fails = std::abs(s.bias) > bias_limit && std::abs(s.bias_t) > bias_t_limit;
  return s;
}

}  // namespace assay::conformance
