#include "assay/conformance/sweep/time_left.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace assay::conformance {
namespace {

constexpr std::size_t least_cases = 5;   ///< finished cases after which a kind's factor is known
constexpr double largest_unknown = 0.5;  ///< largest share of unknown kinds in the time left
constexpr double exceptional = 10;       ///< ratio to the other cases of the same kind
constexpr std::size_t one_exception_in = 20;

}  // namespace

TimeLeft::TimeLeft(std::vector<ExpectedCost> plan) : plan_(std::move(plan)) {
  for (const ExpectedCost& cost : plan_) {
    kinds_[cost.kind].left += cost.seconds;
    planned_ += cost.seconds;
  }
}

void TimeLeft::took(std::size_t place, double seconds) {
  if (place >= plan_.size()) return;
  const ExpectedCost& cost = plan_[place];
  Kind& kind = kinds_[cost.kind];
  kind.left = std::max(0.0, kind.left - cost.seconds);
  if (cost.seconds > 0) kind.done.push_back({cost.seconds, seconds});
}

/// Returns the ratio of real to expected time. Only the more expensive half of the finished cases
/// is used, because cheap cases run first and the remaining cases are expensive. A case that hung
/// is ignored, because its time predicts nothing.
double TimeLeft::factor(std::vector<Measured> done) {
  std::ranges::sort(done, std::greater<>(), &Measured::expected);
  double all = 0, expected = 0, seconds = 0;
  for (const Measured& m : done) all += m.expected;
  std::size_t count = 0;
  for (; count < done.size() && (count < least_cases || expected < all / 2); ++count)
    expected += done[count].expected, seconds += done[count].seconds;
  done.resize(count);
  const auto rate = [](const Measured& m) { return m.seconds / m.expected; };
  std::ranges::sort(done, std::greater<>(), rate);
  for (std::size_t k = 0; k + least_cases <= count && k <= count / one_exception_in; ++k) {
    const double others = (seconds - done[k].seconds) / (expected - done[k].expected);
    if (rate(done[k]) <= exceptional * others) break;
    expected -= done[k].expected, seconds -= done[k].seconds;
  }
  return expected > 0 ? std::max(0.0, seconds / expected) : 0;
}

std::optional<double> TimeLeft::seconds() const {
  std::vector<Measured> any;
  for (const auto& [name, kind] : kinds_) std::ranges::copy(kind.done, std::back_inserter(any));
  if (any.size() < least_cases) return std::nullopt;
  const double usual = factor(std::move(any));
  double known = 0, unknown = 0;
  for (const auto& [name, kind] : kinds_) {
    const bool is_known = kind.done.size() >= least_cases;
    (is_known ? known : unknown) += kind.left * (is_known ? factor(kind.done) : usual);
  }
  if (unknown > largest_unknown * (known + unknown)) return std::nullopt;
  return known + unknown;
}

double TimeLeft::share_done() const {
  double left = 0;
  for (const auto& [name, kind] : kinds_) left += kind.left;
  return planned_ > 0 ? 1 - left / planned_ : 1;
}

}  // namespace assay::conformance
