#include "attention/bound/head_index.hpp"

#include <algorithm>
#include <utility>

#include "assay/spec/at.hpp"

namespace assay::conformance::attention {

using spec::at;

std::vector<double> norms_of(const engine::Rows& rows, std::int64_t first, std::int64_t dim) {
  std::vector<double> norms;
  norms.reserve(at(rows.rows));
  engine::each_row(rows, [&](std::int64_t, const float* row) {
    norms.push_back(norm_squared(row + first, dim));
  });
  return norms;
}

HeadIndex::HeadIndex(const Dense& dense, const spec::RowPosition& key_head,
                     std::vector<std::int64_t> queries, std::vector<std::int64_t> keys)
    : dense_(dense),
      b_(key_head.b),
      kv_(key_head.n),
      queries_(std::move(queries)),
      keys_(std::move(keys)),
      live_(queries_.size(), 1) {}

void HeadIndex::leave_out(std::int64_t row) { live_[at(row)] = 0; }

spec::RowPosition HeadIndex::query(std::int64_t row) const {
  const std::int64_t length = dense_.queries.length(b_), place = queries_[at(row)];
  return {b_, kv_ * dense_.problem.group() + place / length, place % length};
}

engine::Range HeadIndex::reach(std::int64_t row) const {
  if (live_[at(row)] == 0) return {};
  const reference::KeyRange keys = dense_.key_pattern->range(query(row));
  const auto place = [&](std::int64_t key) {
    return std::ranges::lower_bound(keys_, key) - keys_.begin();
  };
  return {place(keys.first), place(keys.last)};
}

void HeadIndex::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  std::ranges::fill(times, 0.0);
  if (live_[at(row)] == 0) return;
  std::vector<std::uint8_t> counted(times.size());
  const auto keys = std::span(keys_).subspan(at(first), times.size());
  if (dense_.key_pattern->count(query(row), keys, counted))
    std::ranges::copy(counted, times.begin());
}

void HeadIndex::fill_kappa(std::int64_t row, std::int64_t first, std::span<double> kappa) const {
  const auto [b, n, i] = query(row);
  for (std::size_t c = 0; c < kappa.size(); ++c)
    kappa[c] = dense_.kappa(b, n, i, keys_[at(first) + c]);
}

void HeadIndex::fill_bias(std::int64_t row, std::int64_t first, std::span<double> bias) const {
  const auto [b, n, i] = query(row);
  for (std::size_t c = 0; c < bias.size(); ++c)
    bias[c] = dense_.bias(b, n, i, keys_[at(first) + c]);
}

}  // namespace assay::conformance::attention
