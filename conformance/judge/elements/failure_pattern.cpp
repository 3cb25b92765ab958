#include "judge/elements/failure_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t fewest_for_a_factor = 4;
constexpr double unexplained = 0.5;  // elements may differ by this share of |factor - 1|

double to_four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

bool is_unwritten(double value) {
  static const std::array numbers = {unwritten_number(spec::DType::fp32),
                                     unwritten_number(spec::DType::fp16),
                                     unwritten_number(spec::DType::bf16)};
  return std::ranges::any_of(numbers, [&](double number) {
    return std::bit_cast<std::uint64_t>(number) == std::bit_cast<std::uint64_t>(value);
  });
}

}  // namespace

double unwritten_number(spec::DType dtype) {
  double number = 0;
  const spec::Parameter one{.dtype = dtype, .shape = {1}, .strides = {1}};
  load_row(poisoned_tensor(one), 0, 1, std::span(&number, 1));
  return number;
}

void FailurePattern::add(const Finding& failing) {
  const std::array<std::int64_t, 4> at = {failing.b, failing.n, failing.s, failing.d};
  for (std::size_t k = 0; k < at.size(); ++k) places_[k].add(at[k]);
  last_rows_ &= failing.s == extents_->length(failing.b) - 1;
  ++count_;
  not_a_number_ &= std::isnan(failing.actual);
  unwritten_ = unwritten_ && is_unwritten(failing.actual);
  zero_ &= failing.actual == 0;
  const double factor = failing.actual / failing.expected;
  least_factor_ = std::min(least_factor_, factor);
  most_factor_ = std::max(most_factor_, factor);
  comparable_ &= std::isfinite(factor);
}

void FailurePattern::append(const FailurePattern& others) {
  if (others.count_ == 0) return;
  for (std::size_t k = 0; k < places_.size(); ++k) places_[k].append(others.places_[k]);
  count_ += others.count_;
  last_rows_ &= others.last_rows_;
  not_a_number_ &= others.not_a_number_, zero_ &= others.zero_;
  unwritten_ &= others.unwritten_;
  least_factor_ = std::min(least_factor_, others.least_factor_);
  most_factor_ = std::max(most_factor_, others.most_factor_);
  comparable_ &= others.comparable_;
}

std::vector<AxisPlace> FailurePattern::places() const {
  constexpr std::array names = {"b", "n", "s", "d"};
  std::vector<AxisPlace> all;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k == 2 && last_rows_ && extents_->seq > 1)
      all.push_back({names[k], PlaceKind::last});
    else if (auto place = places_[k].place(names[k], count_, all_rows_ || k == 3))
      all.push_back(std::move(*place));
  }
  return all;
}

std::optional<double> FailurePattern::factor() const {
  if (not_a_number_ || zero_ || count_ < fewest_for_a_factor || !comparable_) return {};
  const double factor = (least_factor_ + most_factor_) / 2;
  if (most_factor_ - least_factor_ > unexplained * std::abs(factor - 1)) return {};
  return factor;
}

Deviation FailurePattern::deviation() const {
  if (unwritten_) return {.kind = DeviationKind::never_written};
  if (not_a_number_) return {.kind = DeviationKind::not_a_number};
  if (zero_) return {.kind = DeviationKind::zero};
  const std::optional<double> same = factor();
  if (!same) return {};
  return {.kind = DeviationKind::multiple, .factor = to_four_digits(*same)};
}

Pattern FailurePattern::pattern(std::int64_t judged) const {
  Pattern pattern{.failing = count_, .judged = judged};
  if (count_ < 2) return pattern;
  pattern.places = places();
  pattern.deviation = deviation();
  return pattern;
}

}  // namespace assay::conformance
