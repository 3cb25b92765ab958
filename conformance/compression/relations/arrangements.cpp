#include "compression/relations/arrangements.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace assay::conformance::compression {
namespace {

using spec::RowPosition;
using Indices = std::vector<std::int64_t>;

Indices ascending(std::int64_t count) {
  Indices numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Returns a problem made of some sequences of `p`. `order` lists their indices; -1 inserts an
/// empty sequence.
Arrangement sequences(const Problem& p, Indices order) {
  Arrangement part{.problem = p, .origins = {}};
  Indices lengths;
  for (const std::int64_t b : order) lengths.push_back(b < 0 ? 0 : p.length(b));
  set_lengths(part.problem, std::move(lengths));
  const Origin origin = [order = std::move(order)](const RowPosition& row) {
    return RowPosition{order[static_cast<std::size_t>(row.b)], row.n, row.s};
  };
  part.origins = {.token = origin, .window = origin, .weight = same_row};
  return part;
}

Indices sequences_with_windows(const Problem& p) {
  Indices order = ascending(p.batch);
  std::erase_if(order, [&](std::int64_t b) { return windows_of(p, b) == 0; });
  return order;
}

/// Returns a problem made of some heads of `p`. `order` lists their indices.
Arrangement heads(const Problem& p, Indices order) {
  Arrangement part{.problem = p, .origins = {}};
  part.problem.heads = std::ssize(order);
  const Origin origin = [order = std::move(order)](const RowPosition& row) {
    return RowPosition{row.b, order[static_cast<std::size_t>(row.n)], row.s};
  };
  part.origins = {.token = origin, .window = origin, .weight = origin};
  return part;
}

/// Returns how many tokens can be added at the end of sequence b without creating another window.
std::int64_t spare_tail(const Problem& p, std::int64_t b) {
  if (windows_of(p, b) == 0) return 0;
  return p.compress_stride - 1 - (p.length(b) - p.compress_block_size) % p.compress_stride;
}

}  // namespace

bool has_sequences(const Problem& p) { return p.batch > 1; }
bool has_heads(const Problem& p) { return p.heads > 1; }
bool has_short_sequences(const Problem& p) {
  return std::ssize(sequences_with_windows(p)) < p.batch;
}
bool has_spare_tail(const Problem& p) {
  return std::ranges::any_of(ascending(p.batch),
                             [&](std::int64_t b) { return spare_tail(p, b) > 0; });
}
bool has_two_tiles(const Problem& p) { return p.head_dim >= 32; }

Arrangements each_sequence(const Problem& p) {
  Arrangements parts;
  for (const std::int64_t b : sequences_with_windows(p)) parts.push_back(sequences(p, {b}));
  return parts;
}

Arrangements reversed_sequences(const Problem& p) {
  Indices order = ascending(p.batch);
  std::ranges::reverse(order);
  return {sequences(p, std::move(order))};
}

Arrangements without_short_sequences(const Problem& p) {
  return {sequences(p, sequences_with_windows(p))};
}

Arrangements with_empty_first(const Problem& p) {
  Indices leading = ascending(p.batch);
  leading.insert(leading.begin(), -1);
  return {sequences(p, std::move(leading))};
}

Arrangements with_empty_between(const Problem& p) {
  Indices repeated;
  for (std::int64_t b = 0; b < p.batch; ++b) repeated.insert(repeated.end(), {b, -1, -1});
  return {sequences(p, std::move(repeated))};
}

Arrangements each_head(const Problem& p) {
  Arrangements parts;
  for (std::int64_t n = 0; n < p.heads; ++n) parts.push_back(heads(p, {n}));
  return parts;
}

Arrangements rotated_heads(const Problem& p) {
  Indices order = ascending(p.heads);
  std::ranges::rotate(order, order.begin() + 1);
  return {heads(p, std::move(order))};
}

Arrangements with_longer_tails(const Problem& p) {
  Arrangement filled{.problem = p, .origins = {same_row, same_row, same_row}};
  Indices lengths;
  for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(p.length(b) + spare_tail(p, b));
  set_lengths(filled.problem, std::move(lengths));
  Arrangement zero = filled;
  filled.origins.token = [p](const RowPosition& row) {
    return RowPosition{row.b, row.n, std::min(row.s, p.length(row.b) - 1)};
  };
  zero.origins.token = [p](const RowPosition& row) {
    return row.s < p.length(row.b) ? std::optional(row) : std::nullopt;
  };
  return {filled, zero};
}

Arrangements shifted_by_stride(const Problem& p) {
  Arrangement shifted{.problem = p, .origins = {}};
  Indices lengths;
  for (std::int64_t b = 0; b < p.batch; ++b)
    lengths.push_back(p.length(b) + (windows_of(p, b) > 0 ? p.compress_stride : 0));
  set_lengths(shifted.problem, std::move(lengths));
  const auto after = [p](std::int64_t rows) {
    return [p, rows](const RowPosition& row) -> std::optional<RowPosition> {
      if (windows_of(p, row.b) == 0) return row;
      if (row.s < rows) return std::nullopt;
      return RowPosition{row.b, row.n, row.s - rows};
    };
  };
  shifted.origins = {.token = after(p.compress_stride), .window = after(1), .weight = same_row};
  return {shifted};
}

}  // namespace assay::conformance::compression
