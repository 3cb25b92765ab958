#include "judge/elements/index_set.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace assay::conformance {
namespace {

using Members = std::span<const std::int64_t>;

constexpr std::size_t most_named = 3;
/// So many sightings for each index leave one out by chance once in a thousand times.
constexpr std::int64_t sightings_of_each = 7;

bool is_run(Members members) {
  return members.back() - members.front() + 1 == static_cast<std::int64_t>(members.size());
}

std::string ordinal(std::int64_t k) {
  const std::int64_t tens = k % 100;
  const char* const ending = tens >= 11 && tens <= 13 ? "th"
                             : k % 10 == 1            ? "st"
                             : k % 10 == 2            ? "nd"
                             : k % 10 == 3            ? "rd"
                                                      : "th";
  return std::to_string(k) + ending;
}

std::string named(const std::string& axis, Members members) {
  std::string text = axis + " = " + std::to_string(members[0]);
  for (std::size_t k = 1; k < members.size(); ++k)
    text += (k + 1 == members.size() ? " and " : ", ") + std::to_string(members[k]);
  return text;
}

std::string run(const std::string& axis, Members members, std::int64_t extent) {
  return axis + " from " + std::to_string(members.front()) + " to " +
         (members.back() == extent - 1 ? "the end" : std::to_string(members.back()));
}

/// "every 16th s", where the steps are alike up to the end.
std::optional<std::string> steps(const std::string& axis, Members members, std::int64_t extent) {
  const std::int64_t step = members[1] - members[0];
  for (std::size_t k = 1; k < members.size(); ++k)
    if (members[k] - members[k - 1] != step) return {};
  if (step < 2 || members.front() >= step || members.back() + step < extent) return {};
  return "every " + ordinal(step) + " " + axis + " from " + std::to_string(members.front());
}

/// "s mod 64 from 48 to 63", where the same places of every period of a power of 2 are members.
std::optional<std::string> periods(const std::string& axis, Members members, std::int64_t extent) {
  for (std::int64_t period = 4; 2 * period <= extent; period *= 2) {
    std::vector<std::int64_t> places;
    for (const std::int64_t member : members) places.push_back(member % period);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (2 * static_cast<std::int64_t>(places.size()) > period || !is_run(places)) continue;
    std::int64_t due = 0;
    for (std::int64_t at = 0; at < extent; ++at)
      due += at % period >= places.front() && at % period <= places.back() ? 1 : 0;
    if (due == static_cast<std::int64_t>(members.size()))
      return axis + " mod " + std::to_string(period) + " from " + std::to_string(places.front()) +
             " to " + std::to_string(places.back());
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

std::string IndexSet::text(std::string_view name, std::int64_t sightings,
                           bool all_looked_at) const {
  const std::string axis(name);
  const std::vector<std::int64_t> all = members();
  const auto count = static_cast<std::int64_t>(all.size());
  if (count == 0 || count == extent_) return {};
  const bool is_narrow = 2 * (all.back() - all.front() + 1) <= extent_;
  if (!all_looked_at) return is_narrow ? run(axis, all, extent_) : "";
  const bool is_half = 2 * count <= extent_;
  // More than half: by design only where each index would have been seen.
  if (!is_half && sightings < sightings_of_each * extent_) return {};
  if (count == 1 && all[0] == extent_ - 1) return "the last " + axis;
  if (is_half && all.size() <= most_named) {
    // Two may lie so by chance where they are near each other.
    const bool is_pattern = all.size() == most_named || (all.size() == 2 && all[1] - all[0] >= 8);
    if (is_pattern)
      if (auto text = steps(axis, all, extent_)) return *text;
    return named(axis, all);
  }
  if (is_run(all)) return run(axis, all, extent_);
  if (auto text = steps(axis, all, extent_)) return *text;
  if (auto text = periods(axis, all, extent_)) return *text;
  return is_narrow ? run(axis, all, extent_) : "";
}

}  // namespace assay::conformance
