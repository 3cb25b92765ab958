#include "attention/bound/cancellation.hpp"

#include <algorithm>
#include <cmath>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention {
namespace {

using spec::at;

bool query_cancels(const Dense& dense, const spec::RowPosition& query) {
  const auto [b, n, i] = query;
  const std::int64_t kv = n / dense.problem.group();
  const std::vector<double> output = dense.attention_in(b, n, i);
  const reference::KeyRange keys = dense.key_pattern->range(query);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    if (dense.key_pattern->times(b, n, i, j) == 0) continue;
    const double kappa = dense.kappa(b, n, i, j);
    const FloatRow value = dense.value(b, kv, j);
    for (std::size_t d = 0; d < output.size(); ++d)
      if (output[d] != kappa * value[d]) return false;
  }
  return true;
}

/// Returns whether x is a power of two, so that a multiplication by x is exact.
bool is_power_of_two(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5;
}

/// Returns whether every query that attends to the key has a gradient of exactly 0. The check skips
/// fully masked queries.
bool key_cancels(const Dense& dense, const AllRowTerms& rows,
                 const std::vector<std::uint8_t>& query, const spec::RowPosition& key) {
  const auto [b, kv, j] = key;
  const std::int64_t group = dense.problem.group();
  const reference::QueryRange queries = dense.key_pattern->queries(b, j);
  for (std::int64_t n = kv * group; n < (kv + 1) * group; ++n)
    for (std::int64_t i = queries.first; i < queries.last; ++i) {
      const std::size_t row = at(dense.queries.row(b, n, i));
      if (query[row] == 0 && rows.rows[row].live && dense.key_pattern->times(b, n, i, j) != 0)
        return false;
    }
  return true;
}

}  // namespace

CancellingRows cancelling_rows(const Dense& dense, const Arithmetic& arithmetic,
                               const AllRowTerms& rows) {
  CancellingRows cancelling{std::vector<std::uint8_t>(at(dense.queries.rows()), 0),
                            std::vector<std::uint8_t>(at(dense.keys.rows()), 0)};
  const Variant* const variant = variant_of(dense);
  if (variant != nullptr && variant->has_dlse()) return cancelling;
  if (!is_power_of_two(dense.largest_kappa) || arithmetic.numerics.delta != spec::RowTerm::given)
    return cancelling;
  const std::int64_t heads = dense.problem.heads_kv, group = dense.problem.group();
  const auto mark = [&](std::int64_t head) {
    const std::int64_t b = head / heads, kv = head % heads;
    bool some = false;
    for (std::int64_t n = kv * group; n < (kv + 1) * group; ++n)
      for (std::int64_t i = 0; i < dense.queries.length(b); ++i) {
        const std::size_t row = at(dense.queries.row(b, n, i));
        cancelling.query[row] = rows.rows[row].live && query_cancels(dense, {b, n, i}) ? 1 : 0;
        some |= cancelling.query[row] != 0;
      }
    for (std::int64_t j = 0; some && j < dense.keys.length(b); ++j)
      cancelling.key[at(dense.keys.row(b, kv, j))] =
          key_cancels(dense, rows, cancelling.query, {b, kv, j}) ? 1 : 0;
  };
  parallel::for_each(dense.problem.batch * heads, mark);
  return cancelling;
}

}  // namespace assay::conformance::attention
