#include "judge/elements/distances.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace assay::conformance {
namespace {

constexpr std::int64_t most_ratios = std::int64_t{1} << 20;  // stored elements per tensor

/// Returns the default relative tolerance of torch.testing.assert_close for this type. Its absolute
/// tolerance is 1e-5.
double torch_relative_tolerance(spec::DType io) {
  switch (io) {
    case spec::DType::bf16:
      return 1.6e-2;
    case spec::DType::fp16:
      return 1e-3;
    default:
      return 1.3e-6;
  }
}

/// Selects about one in `of` rows by a hash. Selecting every n-th row would often select similar
/// rows.
bool is_drawn(std::int64_t row, std::int64_t of) {
  const auto mixed = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U;
  return (mixed >> 32) % static_cast<std::uint64_t>(of) == 0;
}

}  // namespace

double relative_to_tau(const Expectation& e, std::size_t k, double x,
                       const Arithmetic& arithmetic) {
  const double error = std::abs(x - e.value[k]), limit = e.tau[k] + e.radius[k];
  if (error == 0) return 0;
  if (!std::isfinite(error))  // an expected or possible overflow has no distance
    return grade(e, k, x, arithmetic) == Grade::within ? 0 : HUGE_VAL;
  return limit > 0 ? error / limit : HUGE_VAL;
}

Distances::Distances(const Expectation& whole)
    : rows_of_ratio_(1 + whole.row_count() * whole.dim() / most_ratios), grid_(whole.extents) {}

void Distances::add(const JudgedRow& row, const std::vector<double>& ratios) {
  const Expectation& e = row.e;
  if (row.is_exempt()) {
    exempt_ += e.dim();
    return;
  }
  const bool gives_ratios = is_drawn(e.rows[static_cast<std::size_t>(row.r)], rows_of_ratio_);
  const spec::RowPosition at = e.extents.position(e.rows[static_cast<std::size_t>(row.r)]);
  ErrorGrid::Row cells = grid_.row(at);
  std::optional<std::size_t> worst;
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    ++elements_;
    const double ratio = ratios[k - row.first()];
    if (ratio > worst_ || elements_ == 1) worst_ = ratio, worst = k;
    cells.add(static_cast<std::int64_t>(k - row.first()), ratio);
    ++bins_[ratio >= 1 ? 10 : static_cast<std::size_t>(ratio * 10)];
    if (gives_ratios && std::abs(e.value[k]) > e.floor[k])
      ratios_.push_back(e.tau[k] / std::abs(e.value[k]));
  }
  if (worst) describe_worst(e, *worst, row.value(*worst));
  keep_near(row, at, worst);
}

void Distances::keep_near(const JudgedRow& row, const spec::RowPosition& at,
                          std::optional<std::size_t> worst) {
  const Expectation& e = row.e;
  row_.at = at;
  row_.actual.assign(row.values.begin(), row.values.end());
  row_.expected.assign(e.value.begin() + static_cast<std::ptrdiff_t>(row.first()),
                       e.value.begin() + static_cast<std::ptrdiff_t>(row.last()));
  row_.tolerance.resize(row_.expected.size());
  for (std::size_t k = row.first(); k < row.last(); ++k)
    row_.tolerance[k - row.first()] = e.tau[k] + e.radius[k];
  near_.add(row_, worst ? static_cast<std::int64_t>(*worst - row.first()) : -1);
}

void Distances::describe_worst(const Expectation& e, std::size_t worst, double actual) {
  worst_at_ = locate(e, static_cast<std::int64_t>(worst));
  worst_at_.actual = actual;
  worst_at_.expected = e.value[worst];
  worst_at_.tolerance = e.tau[worst] + e.radius[worst];
  terms_.clear();
  if (const double tau = e.tau[worst]; tau > 0) {
    const double core = e.core[worst], sums = e.accumulation[worst], extra = e.extra[worst];
    terms_ = {{"staging and probabilities", core / tau},
              {"accumulation", sums / tau},
              {"operands, partials, floor", extra / tau},
              {"final cast", std::max(0.0, 1 - (core + sums + extra) / tau)}};
  }
}

void Distances::append(const Distances& later) {
  const bool worse = later.elements_ > 0 && (later.worst_ > worst_ || elements_ == 0);
  if (worse) worst_ = later.worst_, worst_at_ = later.worst_at_, terms_ = later.terms_;
  grid_.append(later.grid_);
  near_.append(later.near_, worse);
  elements_ += later.elements_, exempt_ += later.exempt_;
  // A vector that doubles its size would use up to twice this memory.
  const std::size_t size = ratios_.size() + later.ratios_.size();
  if (size > ratios_.capacity()) ratios_.reserve(size + size / 8);
  ratios_.insert(ratios_.end(), later.ratios_.begin(), later.ratios_.end());
  for (std::size_t b = 0; b < bins_.size(); ++b) bins_[b] += later.bins_[b];
}

void Distances::finish(TensorReport& report) {
  report.elements_judged = elements_, report.exempt = exempt_;
  report.histogram.assign(bins_.size(), 0.0);
  if (elements_ == 0) return;
  report.worst = worst_, report.worst_at = worst_at_;
  near_.finish(report.errors.emplace(grid_.map()));
  report.terms = {terms_.begin(), terms_.end()};
  for (std::size_t b = 0; b < bins_.size(); ++b)
    report.histogram[b] = static_cast<double>(bins_[b]) / static_cast<double>(elements_);
  if (ratios_.empty()) return;
  const auto middle = ratios_.begin() + static_cast<std::ptrdiff_t>(ratios_.size() / 2);
  std::nth_element(ratios_.begin(), middle, ratios_.end());
  report.median_tau_over_ref = *middle;
}

void Yardsticks::add(const JudgedRow& row, spec::DType io) {
  const double torch_relative = torch_relative_tolerance(io);
  count_ += static_cast<double>(row.values.size());
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    const double reference = row.e.value[k], actual = row.value(k);
    // If the difference is NaN, it counts as infinite.
    const double distance = actual == reference ? 0 : std::abs(actual - reference);
    const double error = std::isnan(distance) ? HUGE_VAL : distance;
    const double magnitude = std::abs(reference);
    const double relative = error / (magnitude + 1e-7);
    worst_ = std::max(worst_, relative), sum_ += relative, squares_ += error * error;
    largest_ = std::max(largest_, error);
    beyond_torch_ += error > 1e-5 + torch_relative * magnitude ? 1 : 0;
    beyond_plugin_ += error > 0.005 + 0.005 * magnitude ? 1 : 0;
    beyond_bench_ += error > 1e-2 + 1e-2 * magnitude ? 1 : 0;
  }
}

void Yardsticks::append(const Yardsticks& later) {
  count_ += later.count_, worst_ = std::max(worst_, later.worst_);
  sum_ += later.sum_, squares_ += later.squares_;
  largest_ = std::max(largest_, later.largest_), beyond_torch_ += later.beyond_torch_;
  beyond_plugin_ += later.beyond_plugin_, beyond_bench_ += later.beyond_bench_;
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
      {"largest_error", largest_},
      {"share_beyond_torch_assert_close", beyond_torch_ / count_},
      {"share_beyond_op_plugin_0.005", beyond_plugin_ / count_},
      {"share_beyond_kernelbench_1e-2", beyond_bench_ / count_},
  };
}

}  // namespace assay::conformance
