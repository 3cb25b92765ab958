#include "judge/elements/failure_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace assay::conformance {
namespace {

constexpr std::int64_t fewest_for_a_factor = 4;
constexpr double unexplained = 0.5;  // share of a factor's effect by which elements may differ

std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace

void FailurePattern::add(const Finding& failing) {
  const std::array<std::int64_t, 4> at = {failing.b, failing.n, failing.s, failing.d};
  for (std::size_t k = 0; k < at.size(); ++k) {
    Range& range = ranges_[k];
    range = count_ == 0 ? Range{at[k], at[k]}
                        : Range{std::min(range.least, at[k]), std::max(range.most, at[k])};
  }
  ++count_;
  not_a_number_ &= std::isnan(failing.actual);
  zero_ &= failing.actual == 0;
  const double factor = failing.actual / failing.expected;
  least_factor_ = std::min(least_factor_, factor);
  most_factor_ = std::max(most_factor_, factor);
  comparable_ &= std::isfinite(factor);
}

void FailurePattern::append(const FailurePattern& others) {
  if (others.count_ == 0) return;
  for (std::size_t k = 0; k < ranges_.size(); ++k) {
    const Range& more = others.ranges_[k];
    Range& range = ranges_[k];
    range = count_ == 0 ? more
                        : Range{std::min(range.least, more.least), std::max(range.most, more.most)};
  }
  count_ += others.count_;
  not_a_number_ &= others.not_a_number_, zero_ &= others.zero_;
  least_factor_ = std::min(least_factor_, others.least_factor_);
  most_factor_ = std::max(most_factor_, others.most_factor_);
  comparable_ &= others.comparable_;
}

std::string FailurePattern::place() const {
  const std::array<const char*, 4> names = {"b", "n", "s", "d"};
  const std::array<std::int64_t, 4> extents = {extents_->batch, extents_->heads, extents_->seq,
                                               extents_->dim};
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto [least, most] = ranges_[k];
    if (2 * (most - least + 1) > extents[k]) continue;  // says nothing
    text += text.empty() ? "" : ", ";
    text += names[k] + (least == most
                            ? " = " + std::to_string(least)
                            : " from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return text;
}

std::string FailurePattern::relation() const {
  if (not_a_number_) return "NaN";
  if (zero_) return "0";
  if (count_ < fewest_for_a_factor || !comparable_) return {};
  const double factor = (least_factor_ + most_factor_) / 2;
  if (most_factor_ - least_factor_ > unexplained * std::abs(factor - 1)) return {};
  return "about " + number(factor) + " times what is due";
}

std::string FailurePattern::text() const {
  if (count_ < 2) return {};
  std::string text = place();
  if (!text.empty()) text = ", all at " + text;
  if (const std::string what = relation(); !what.empty()) text += ", where the output is " + what;
  return text;
}

}  // namespace assay::conformance
