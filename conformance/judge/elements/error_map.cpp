#include "judge/elements/error_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace assay::conformance {
namespace {

constexpr std::int64_t most_cells = 32;  // largest number of cells along rows, and along channels
constexpr std::int64_t most_heads = 64;
constexpr std::int64_t reach = 2;  // number of neighbouring rows or channels to each side

/// Returns the smallest n such that at most `most` blocks of 2^n indices cover the extent.
int shift_for(std::int64_t extent, std::int64_t most) {
  int shift = 0;
  while (((extent - 1) >> shift) >= most) ++shift;
  return shift;
}

std::int64_t cells_of(std::int64_t extent, int shift) {
  return extent == 0 ? 0 : ((extent - 1) >> shift) + 1;
}

/// Encodes a ratio as a letter. The first letter means at most 2^-12, each further letter is a
/// factor of sqrt(2), and the last letter means more than 2^18.
char letter(double ratio) {
  constexpr std::string_view letters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr double of_one = 24;
  if (ratio < 0) return '.';
  if (!(ratio < 0x1p60)) return '*';
  const double level = ratio > 0 ? std::ceil(2 * std::log2(ratio)) + of_one : 0;
  return letters[static_cast<std::size_t>(
      std::clamp(level, 0.0, static_cast<double>(letters.size() - 1)))];
}

std::string letters_of(const std::vector<double>& ratios) {
  std::string text;
  for (const double ratio : ratios) text += letter(ratio);
  return text;
}

void keep_larger(std::vector<double>& all, const std::vector<double>& others) {
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::max(all[k], others[k]);
}

/// Rounds a number to the decimal digits that the error table shows.
double shortened(double value, int digits) {
  if (!std::isfinite(value)) return value;
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return std::strtod(text.data(), nullptr);
}

}  // namespace

ErrorGrid::ErrorGrid(const spec::Extents& extents)
    : extents_(&extents),
      row_shift_(shift_for(extents.seq, most_cells)),
      channel_shift_(shift_for(extents.dim, most_cells)),
      head_shift_(shift_for(extents.batch * extents.heads, most_heads)),
      columns_(cells_of(extents.dim, channel_shift_)),
      cells_(static_cast<std::size_t>(cells_of(extents.seq, row_shift_) * columns_), -1.0),
      heads_(static_cast<std::size_t>(cells_of(extents.batch * extents.heads, head_shift_)), -1.0) {
}

ErrorGrid::Row ErrorGrid::row(const spec::RowPosition& at) {
  return {cells_.data() + (at.s >> row_shift_) * columns_,
          heads_.data() + ((at.b * extents_->heads + at.n) >> head_shift_), channel_shift_};
}

void ErrorGrid::append(const ErrorGrid& later) {
  keep_larger(cells_, later.cells_);
  keep_larger(heads_, later.heads_);
}

ErrorMap ErrorGrid::map() const {
  ErrorMap map = {.batch = extents_->batch,
                  .heads = extents_->heads,
                  .rows = extents_->seq,
                  .channels = extents_->dim,
                  .row_step = std::int64_t{1} << row_shift_,
                  .channel_step = std::int64_t{1} << channel_shift_,
                  .head_step = std::int64_t{1} << head_shift_};
  map.cells = letters_of(cells_);
  map.by_head = letters_of(heads_);
  return map;
}

bool Neighbourhood::is_near(const spec::RowPosition& row) const {
  return row.b == worst_.b && row.n == worst_.n && std::abs(row.s - worst_.s) <= reach;
}

void Neighbourhood::take(const Row& row) {
  if (channel_ < 0 || !is_near(row.at)) return;
  const std::int64_t first = std::max<std::int64_t>(0, channel_ - reach);
  const std::int64_t end = std::min<std::int64_t>(std::ssize(row.actual), channel_ + reach + 1);
  const auto part = [&](const std::vector<double>& values) {
    return std::vector<double>(values.begin() + first, values.begin() + end);
  };
  near_.push_back({row.at, part(row.actual), part(row.expected), part(row.tolerance)});
}

void Neighbourhood::add(Row& row, std::int64_t worst) {
  if (worst >= 0) {
    worst_ = row.at, channel_ = worst;
    near_.clear();
    for (std::int64_t k = std::max<std::int64_t>(0, 2 - rows_); k < 2; ++k)
      take(last_[static_cast<std::size_t>(k)]);
  }
  take(row);
  if (rows_ < 2) first_[static_cast<std::size_t>(rows_)] = row;
  ++rows_;
  std::swap(last_[0], last_[1]);
  std::swap(last_[1], row);
}

void Neighbourhood::append(const Neighbourhood& later, bool worse) {
  if (worse) {
    worst_ = later.worst_, channel_ = later.channel_;
    near_.clear();
    for (std::int64_t k = std::max<std::int64_t>(0, 2 - rows_); k < 2; ++k)
      take(last_[static_cast<std::size_t>(k)]);
    near_.insert(near_.end(), later.near_.begin(), later.near_.end());
  } else {
    for (std::int64_t k = 0; k < std::min<std::int64_t>(2, later.rows_); ++k)
      take(later.first_[static_cast<std::size_t>(k)]);
  }
  for (std::int64_t k = 0; k < later.rows_ && rows_ + k < 2; ++k)
    first_[static_cast<std::size_t>(rows_ + k)] = later.first_[static_cast<std::size_t>(k)];
  if (later.rows_ == 1) last_[0] = std::move(last_[1]);
  if (later.rows_ > 1) last_[0] = later.last_[0];
  if (later.rows_ > 0) last_[1] = later.last_[1];
  rows_ += later.rows_;
}

void Neighbourhood::finish(ErrorMap& map) const {
  if (channel_ < 0) return;
  map.near_channel = std::max<std::int64_t>(0, channel_ - reach);
  // The rows are not in order, because uncertain rows were judged last. Sort them by position.
  std::vector<Row> rows = near_;
  std::ranges::sort(rows, {}, [](const Row& row) { return row.at.s; });
  for (const Row& row : rows) {
    map.near_rows.push_back(row.at.s);
    for (std::size_t k = 0; k < row.actual.size(); ++k)
      add_near(map, row.actual[k], row.expected[k], row.tolerance[k]);
  }
}

void add_near(ErrorMap& map, double actual, double expected, double tolerance) {
  map.actual.push_back(shortened(actual, 9));
  map.expected.push_back(shortened(expected, 9));
  map.tolerance.push_back(shortened(tolerance, 4));
}

}  // namespace assay::conformance
