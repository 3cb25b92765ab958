#include "judge/elements/index_set.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace assay::conformance {
namespace {

using Members = std::span<const std::int64_t>;

constexpr std::size_t most_named = 3;
/// Required number of failing elements per index. If failures are random and each index has this
/// number of them on average, an index is without a failure with a probability of about 1 in 1000.
constexpr std::int64_t sightings_of_each = 7;

bool is_run(Members members) {
  return members.back() - members.front() + 1 == static_cast<std::int64_t>(members.size());
}

AxisPlace range(std::string_view axis, Members members, std::int64_t extent) {
  AxisPlace place{std::string(axis), PlaceKind::range, {members.front()}};
  if (members.back() != extent - 1) place.numbers.push_back(members.back());
  return place;
}

/// Returns a description of the indices if they are evenly spaced over the whole extent.
std::optional<AxisPlace> steps(std::string_view axis, Members members, std::int64_t extent) {
  const std::int64_t step = members[1] - members[0];
  for (std::size_t k = 1; k < members.size(); ++k)
    if (members[k] - members[k - 1] != step) return {};
  if (step < 2 || members.front() >= step || members.back() + step < extent) return {};
  return AxisPlace{std::string(axis), PlaceKind::steps, {step, members.front()}};
}

/// Returns a description of the indices if they are periodic: the period is a power of 2, and the
/// indices form one range in each period.
std::optional<AxisPlace> periods(std::string_view axis, Members members, std::int64_t extent) {
  for (std::int64_t period = 4; 2 * period <= extent; period *= 2) {
    std::vector<std::int64_t> within;
    for (const std::int64_t member : members) within.push_back(member % period);
    std::ranges::sort(within);
    within.erase(std::unique(within.begin(), within.end()), within.end());
    if (2 * static_cast<std::int64_t>(within.size()) > period || !is_run(within)) continue;
    std::int64_t expected = 0;
    for (std::int64_t at = 0; at < extent; ++at)
      expected += at % period >= within.front() && at % period <= within.back() ? 1 : 0;
    if (expected == static_cast<std::int64_t>(members.size()))
      return AxisPlace{
          std::string(axis), PlaceKind::periods, {period, within.front(), within.back()}};
  }
  return {};
}

}  // namespace

void IndexSet::add(std::int64_t index) {
  if (index < 0 || index >= extent_) return;
  if (seen_.empty()) seen_.resize(static_cast<std::size_t>(extent_));
  seen_[static_cast<std::size_t>(index)] = true;
}

void IndexSet::append(const IndexSet& others) {
  for (const std::int64_t member : others.members()) add(member);
}

std::vector<std::int64_t> IndexSet::members() const {
  std::vector<std::int64_t> all;
  for (std::size_t k = 0; k < seen_.size(); ++k)
    if (seen_[k]) all.push_back(static_cast<std::int64_t>(k));
  return all;
}

std::optional<AxisPlace> IndexSet::place(std::string_view axis, std::int64_t sightings,
                                         bool all_looked_at) const {
  const std::vector<std::int64_t> all = members();
  const auto count = static_cast<std::int64_t>(all.size());
  if (count == 0 || count == extent_) return {};
  const bool is_narrow = 2 * (all.back() - all.front() + 1) <= extent_;
  const auto narrow_range = [&] {
    return is_narrow ? std::optional(range(axis, all, extent_)) : std::nullopt;
  };
  if (!all_looked_at) return narrow_range();
  const bool is_half = 2 * count <= extent_;
  // Random failures can hit more than half of the indices. In this case the indices without
  // failures have a meaning only if random failures of the same number would probably hit every
  // index.
  if (!is_half && sightings < sightings_of_each * extent_) return {};
  if (count == 1 && all[0] == extent_ - 1) return AxisPlace{std::string(axis), PlaceKind::last};
  if (is_half && all.size() <= most_named) {
    // Two indices with a small distance may be evenly spaced by chance. They count as a pattern
    // only if their distance is at least 8.
    const bool is_pattern = all.size() == most_named || (all.size() == 2 && all[1] - all[0] >= 8);
    if (is_pattern)
      if (auto place = steps(axis, all, extent_)) return place;
    return AxisPlace{std::string(axis), PlaceKind::listed, all};
  }
  if (is_run(all)) return range(axis, all, extent_);
  if (auto place = steps(axis, all, extent_)) return place;
  if (auto place = periods(axis, all, extent_)) return place;
  return narrow_range();
}

}  // namespace assay::conformance
