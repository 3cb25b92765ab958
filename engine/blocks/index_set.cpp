#include "assay/engine/blocks/index_set.hpp"

#include <algorithm>

namespace assay::engine {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

}  // namespace

void Windows::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  const Range keys = reach(row);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const std::int64_t key = first + static_cast<std::int64_t>(k);
    times[k] = keys.first <= key && key < keys.last ? 1 : 0;
  }
}

Lists::Lists(std::vector<std::vector<std::int64_t>> of_rows) : of_rows_(std::move(of_rows)) {
  for (auto& list : of_rows_) std::ranges::sort(list);
}

Range Lists::reach(std::int64_t row) const {
  const auto& list = of_rows_[at(row)];
  return list.empty() ? Range{} : Range{list.front(), list.back() + 1};
}

void Lists::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  std::ranges::fill(times, 0.0);
  const auto& list = of_rows_[at(row)];
  const std::int64_t last = first + static_cast<std::int64_t>(times.size());
  for (auto key = std::ranges::lower_bound(list, first); key != list.end() && *key < last; ++key)
    ++times[at(*key - first)];
}

Range Chosen::reach(std::int64_t row) const {
  const Range keys = all_.reach(rows_[at(row)]);
  Range reach;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k] < keys.first || keys_[k] >= keys.last) continue;
    const auto key = static_cast<std::int64_t>(k);
    if (reach.last == 0) reach.first = key;
    reach.last = key + 1;
  }
  return reach;
}

void Chosen::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  for (std::size_t k = 0; k < times.size(); ++k) {
    double& one = times[k];
    all_.counts(rows_[at(row)], keys_[at(first) + k], {&one, 1});
  }
}

}  // namespace assay::engine
