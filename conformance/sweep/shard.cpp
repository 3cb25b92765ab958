#include "assay/conformance/sweep/shard.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace assay::conformance {

// Splits the cases into parts of similar total cost: assigns the most expensive remaining case to
// the part with the lowest total cost so far. Cases with equal cost keep their order, and of equal
// parts the first one is used. The result is therefore the same with every standard library.
std::vector<std::int64_t> shard_places(std::span<const double> costs, std::int64_t number,
                                       std::int64_t of) {
  const auto cost_of = [&](std::int64_t place) { return costs[static_cast<std::size_t>(place)]; };
  std::vector<std::int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), cost_of);
  std::vector<double> load(static_cast<std::size_t>(of), 0);
  std::vector<std::int64_t> places;
  for (const std::int64_t place : order) {
    const auto least = std::ranges::min_element(load);
    *least += cost_of(place);
    if (least - load.begin() == number - 1) places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

}  // namespace assay::conformance
