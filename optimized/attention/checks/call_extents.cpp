#include "attention/checks/call_extents.hpp"

#include <algorithm>
#include <limits>

namespace assay::optimized::attention {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Returns the product of two non-negative numbers, or the largest 64-bit integer if the product
/// overflows.
std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > most / b ? most : a * b;
}

}  // namespace

Lengths differences(const std::optional<Lengths>& sums) {
  Lengths lengths;
  if (!sums) return lengths;
  lengths.reserve(sums->size());
  std::int64_t start = 0;
  for (const std::int64_t end : *sums) {
    lengths.push_back(end - start);
    start = end;
  }
  return lengths;
}

std::int64_t longest(const Lengths& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

Axes axes_of(spec::Layout layout) {
  switch (layout) {
    case spec::Layout::bsh:
      return {.batch = 0, .seq = 1, .heads = 2, .merged = true};
    case spec::Layout::sbh:
      return {.batch = 1, .seq = 0, .heads = 2, .merged = true};
    case spec::Layout::bsnd:
      return {.batch = 0, .seq = 1, .heads = 2, .merged = false};
    case spec::Layout::tnd:
      return {.batch = 0, .seq = 0, .heads = 1, .merged = false};
    case spec::Layout::bnsd:
      break;
  }
  return {.batch = 0, .seq = 2, .heads = 1, .merged = false};
}

std::int64_t score_count(const CallExtents& extents) {
  std::int64_t pairs = 0;
  for (std::size_t b = 0; b < extents.lengths_q.size(); ++b) {
    const std::int64_t more = saturated_product(extents.lengths_q[b], extents.lengths_kv[b]);
    pairs = more > most - pairs ? most : pairs + more;
  }
  // In a padded layout, `lengths` has a single entry, which applies to all sequences of the batch.
  const auto listed = static_cast<std::int64_t>(extents.lengths_q.size());
  const std::int64_t alike = listed == extents.batch ? 1 : extents.batch;
  return saturated_product(saturated_product(extents.heads_q, alike), pairs);
}

bool is_empty(const spec::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

std::int64_t saturated_count(const spec::Shape& shape) {
  if (is_empty(shape)) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = saturated_product(count, extent);
  return count;
}

}  // namespace assay::optimized::attention
