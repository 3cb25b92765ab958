#include "judge/elements/distances.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace assay::conformance {
namespace {

/// What the error of one element can be compared with.
double relative_to_tau(const Expectation& e, std::size_t k, double x,
                       const Arithmetic& arithmetic) {
  const double error = std::abs(x - e.value[k]), limit = e.tau[k] + e.radius[k];
  if (error == 0) return 0;
  if (!std::isfinite(error))  // an overflow that is due, or may be, has no distance
    return grade(e, k, x, arithmetic) == Grade::within ? 0 : HUGE_VAL;
  return limit > 0 ? error / limit : HUGE_VAL;
}

}  // namespace

void Distances::add(const JudgedRow& row) {
  const Expectation& e = row.e;
  if (row.is_exempt()) {
    report_.exempt += e.dim();
    return;
  }
  std::optional<std::size_t> worst;
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    ++report_.elements_judged;
    const double ratio = relative_to_tau(e, k, row.value(k), arithmetic_);
    if (ratio > report_.worst || report_.elements_judged == 1) report_.worst = ratio, worst = k;
    ++bins_[ratio >= 1 ? 10 : static_cast<std::size_t>(ratio * 10)];
    if (std::abs(e.value[k]) > e.floor[k]) ratios_.push_back(e.tau[k] / std::abs(e.value[k]));
  }
  if (worst) describe_worst(e, *worst, row.value(*worst));
}

void Distances::describe_worst(const Expectation& e, std::size_t worst, double actual) {
  report_.worst_at = locate(e, static_cast<std::int64_t>(worst));
  report_.worst_at.actual = actual;
  report_.worst_at.expected = e.value[worst];
  report_.worst_at.tolerance = e.tau[worst] + e.radius[worst];
  report_.terms.clear();
  if (const double tau = e.tau[worst]; tau > 0) {
    const double core = e.core[worst], sums = e.accumulation[worst], extra = e.extra[worst];
    report_.terms = {{"staging and probabilities", core / tau},
                     {"accumulation", sums / tau},
                     {"operands, partials, floor", extra / tau},
                     {"final cast", std::max(0.0, 1 - (core + sums + extra) / tau)}};
  }
}

void Distances::finish() {
  report_.histogram.assign(bins_.size(), 0.0);
  if (report_.elements_judged == 0) return;
  for (std::size_t b = 0; b < bins_.size(); ++b)
    report_.histogram[b] =
        static_cast<double>(bins_[b]) / static_cast<double>(report_.elements_judged);
  if (ratios_.empty()) return;
  const auto middle = ratios_.begin() + static_cast<std::ptrdiff_t>(ratios_.size() / 2);
  std::nth_element(ratios_.begin(), middle, ratios_.end());
  report_.median_tau_over_ref = *middle;
}

void Yardsticks::add(const JudgedRow& row) {
  count_ += static_cast<double>(row.values.size());
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    const double reference = row.e.value[k];
    const double error = std::abs(row.value(k) - reference), magnitude = std::abs(reference);
    const double relative = error / (magnitude + 1e-7);
    worst_ = std::max(worst_, relative), sum_ += relative, squares_ += error * error;
    beyond_plugin_ += error > 0.005 + 0.005 * magnitude ? 1 : 0;
    beyond_bench_ += error > 1e-2 + 1e-2 * magnitude ? 1 : 0;
  }
}

void Yardsticks::finish(const Arithmetic& arithmetic, TensorReport& report) const {
  if (count_ == 0) return;
  const double threshold = arithmetic.io == spec::DType::bf16   ? 0x1p-7
                           : arithmetic.io == spec::DType::fp16 ? 0x1p-10
                                                                : 0x1p-13;
  const double mean = sum_ / count_;
  report.yardsticks = {
      {"MARE", worst_},
      {"MERE", mean},
      {"RMSE", std::sqrt(squares_ / count_)},
      {"passes_ascend_single_benchmark", mean < threshold && worst_ < 10 * threshold ? 1 : 0},
      {"share_beyond_op_plugin_0.005", beyond_plugin_ / count_},
      {"share_beyond_kernelbench_1e-2", beyond_bench_ / count_},
  };
}

}  // namespace assay::conformance
