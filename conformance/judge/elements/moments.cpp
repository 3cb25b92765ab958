#include "judge/elements/moments.hpp"

#include <algorithm>
#include <cmath>

#include "judge/tolerance.hpp"

namespace assay::conformance {
namespace {

constexpr double bias_limit = 0.08, bias_t_limit = 8;
constexpr std::int64_t bias_rows = 32;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double square(double x) { return x * x; }

/// E29. The chi-square tail of Laurent and Massart.
double rms_limit(double nu) {
  const double x = -std::log(false_alarm);
  return std::max(1.05, std::sqrt(1 + 2 * std::sqrt(x / nu) + 2 * x / nu));
}

/// Whether the error of element k says something beside its being within tau: a value that tau does
/// not tell from zero may be nothing but noise of the given tensors, which a healthy kernel need
/// not have.
bool is_telling(const Expectation& e, std::size_t k, double actual, const Arithmetic& arithmetic) {
  return std::abs(e.value[k]) > e.tau[k] && e.sigma[k] > 0 && std::isfinite(actual) &&
         !arithmetic.cast_is_coarse(e.value[k]);
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
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    const double actual = row.value(k);
    if (!is_telling(e, k, actual, arithmetic)) continue;
    const double error = (actual - e.value[k] - e.drift[k]) / e.sigma[k];
    const double of_cast = arithmetic.cast_error(e.value[k] + e.drift[k]) / e.sigma[k];
    squares_ += error * error, of_casts_ += of_cast * of_cast;
    shares_ += share;
    ++elements_;
    if (arithmetic.cast_is_biased(e.value[k] + e.drift[k])) continue;
    // The cast that is known leans where rows are alike: it is one, however many they are.
    const double beyond_cast = error - of_cast;
    signed_sum += e.value[k] < 0 ? -beyond_cast : beyond_cast;
    ++in_row;
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
  // The final casts of just these values are known. Where rows are alike they are few, and many may
  // lie next to ties.
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
