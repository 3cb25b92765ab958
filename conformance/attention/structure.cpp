#include "attention/structure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "judge/structure.hpp"

namespace assay::conformance::attention {
namespace {

using spec::at;

/// softmax_max of a fully masked row.
constexpr double dead = -static_cast<double>(std::numeric_limits<float>::max());

/// One output tensor, with the data that its checks need.
struct Checked {
  const char* name;
  const spec::Tensor& tensor;
  spec::Extents extents;
  const std::vector<std::uint8_t>& due_zero;
  bool staging_may_overflow;  ///< if true, only judged rows say where to expect infinities
  double largest_prob;
  FactKind not_zero;  ///< says why a row must be zero
};

/// Checks the values of one output. unit_floor(row, d): an upper bound of |x| for an element x of a
/// correct kernel if P = 1 in every pair.
template <class UnitFloor>
void check_values(const Checked& c, const Op::Problem& p, const Arithmetic& arithmetic,
                  UnitFloor&& unit_floor, std::vector<Finding>& findings) {
  const spec::HeadView view(c.tensor, p.input_layout, c.extents);
  StructureFindings nonzero(c.name, c.not_zero, findings, 0);
  StructureFindings infinite(c.name, FactKind::infinite, findings);
  const double threshold = overflow_threshold(arithmetic.io);
  std::vector<double> row(at(c.extents.dim));
  for (std::int64_t b = 0; b < c.extents.batch; ++b)
    for (std::int64_t n = 0; n < c.extents.heads; ++n)
      for (std::int64_t s = 0; s < c.extents.length(b); ++s) {
        const bool zero = c.due_zero[at(c.extents.row(b, n, s))] != 0;
        view.read_row(b, n, s, row);
        for (std::int64_t d = 0; d < c.extents.dim; ++d) {
          const double x = row[at(d)];
          if (zero ? x == 0 : std::isfinite(x)) continue;
          const double limit = unit_floor(spec::RowPosition{b, n, s}, d);
          const Finding place{
              .b = b, .n = n, .s = s, .d = d, .actual = x, .tolerance = arithmetic.phi * limit};
          if (zero && !(std::abs(x) <= arithmetic.phi * limit)) nonzero.add(place);
          if (!zero && !c.staging_may_overflow && 2 * c.largest_prob * limit < threshold)
            infinite.add(place);
        }
      }
}

/// Checks the TND tokens that belong to no sequence: their gradient must be 0. Source: the vendor's
/// kernels first clear the sums of all tokens (requirement TND-3b).
void check_padding(const char* name, const spec::Tensor& tensor, const spec::Extents& e,
                   std::vector<Finding>& findings) {
  StructureFindings nonzero(name, FactKind::nonzero_without_sequence, findings, 0);
  const spec::Shape& s = tensor.strides;
  std::vector<double> row(at(e.dim));
  for (std::int64_t token = 0; token < e.padding; ++token)
    for (std::int64_t n = 0; n < e.heads; ++n) {
      const std::int64_t first = tensor.offset + (e.tokens() + token) * s[0] + n * s[1];
      spec::load_row(tensor, first, s[2], row);
      for (std::int64_t d = 0; d < e.dim; ++d)
        if (row[at(d)] != 0)
          nonzero.add({.b = e.batch, .n = n, .s = token, .d = d, .actual = row[at(d)]});
    }
}

}  // namespace

ExpectedZeros expected_zeros(const Dense& dense) {
  const Op::Problem& p = dense.problem;
  ExpectedZeros zeros;
  zeros.query_row.assign(at(dense.queries.rows()), 0);
  zeros.key_row.assign(at(dense.keys.rows()), 0);
  parallel::for_each(p.batch * p.heads_kv, [&](std::int64_t head) {
    const std::int64_t b = head / p.heads_kv, kv = head % p.heads_kv;
    for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        const std::int64_t row = dense.queries.row(b, n, i);
        zeros.query_row[at(row)] = dense.softmax_max(row) == dead || p.length_kv(b) == 0 ? 1 : 0;
      }
    const auto attended = [&](std::int64_t j) {
      const reference::QueryRange queries = dense.key_pattern->queries(b, j);
      for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n)
        for (std::int64_t i = queries.last; i-- > queries.first;)
          if (zeros.query_row[at(dense.queries.row(b, n, i))] == 0 &&
              dense.key_pattern->times(b, n, i, j) != 0)
            return true;
      return false;
    };
    for (std::int64_t j = 0; j < p.length_kv(b); ++j)
      zeros.key_row[at(dense.keys.row(b, kv, j))] = attended(j) ? 0 : 1;
  });
  return zeros;
}

namespace {

/// Returns an upper bound of P = exp(score - max) / sum. The fp32 number of a large score has no
/// fraction bits, so P can be far above 1 if max is rounded.
double largest_prob_of(const Dense& dense) {
  double largest = 0;
  for (std::int64_t row = 0; row < dense.queries.rows(); ++row)
    if (dense.softmax_max(row) != dead)
      largest = std::max(largest, std::abs(dense.softmax_max(row)));
  constexpr double unsure = 0x1p-20;
  return std::exp(unsure * largest);
}

}  // namespace

std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const GradientTensors& outputs, const GradientNames& names) {
  const Op::Problem& p = dense.problem;
  const ExpectedZeros zeros = expected_zeros(dense);
  Floor floor = floor_of(dense);
  if (outputs.dv == nullptr)
    for (std::int64_t head = 0; head < p.batch * p.heads_kv; ++head)
      for (std::int64_t d = 0; d < p.head_dim_v; ++d)
        floor.dk[at(head * dense.width() + d)] += floor.dv[at(head * p.head_dim_v + d)];
  const double largest_staged =
      floor.query_row.empty() ? 0
                              : *std::max_element(floor.query_row.begin(), floor.query_row.end());
  const bool staging_overflows = arithmetic.numerics.stage == spec::DType::fp16 &&
                                 2 * largest_staged >= overflow_threshold(spec::DType::fp16);
  const double largest_prob = largest_prob_of(dense);
  std::vector<Finding> findings;
  const auto check = [&](const char* name, const spec::Tensor& tensor, const spec::Extents& extents,
                         const std::vector<std::uint8_t>& zero_rows, auto&& unit_floor) {
    check_storage(name, tensor, findings);
    check_padding(name, tensor, extents, findings);
    const FactKind not_zero = &zero_rows == &zeros.query_row ? FactKind::nonzero_without_key
                                                             : FactKind::nonzero_without_query;
    const Checked checked{name,         tensor,  extents, zero_rows, staging_overflows,
                          largest_prob, not_zero};
    check_values(checked, p, arithmetic, unit_floor, findings);
  };
  const auto of_query = [&](std::int64_t first) {
    return [&, first](const spec::RowPosition& row, std::int64_t d) {
      return floor.dq(dense, row, first + d);
    };
  };
  const auto of_key = [&](const std::vector<double>& sums, std::int64_t width, std::int64_t first) {
    return [&, width, first](const spec::RowPosition& row, std::int64_t d) {
      // If no query can attend to a key, masked pairs leave no small number in the gradient of the
      // key.
      if (dense.key_pattern->entries_of_key(row) == 0) return 0.0;
      return sums[at((row.b * p.heads_kv + row.n) * width + first + d)];
    };
  };
  check(names.dq, *outputs.dq, query_extents(p), zeros.query_row, of_query(0));
  check(names.dk, *outputs.dk, key_extents(p), zeros.key_row, of_key(floor.dk, dense.width(), 0));
  if (outputs.dv != nullptr)
    check(names.dv, *outputs.dv, value_extents(p), zeros.key_row,
          of_key(floor.dv, p.head_dim_v, 0));
  const auto rows = [](const std::vector<std::uint8_t>& zero_rows) {
    return std::ranges::count_if(zero_rows, [](std::uint8_t zero) { return zero != 0; });
  };
  findings.push_back(counted("queries_without_key", rows(zeros.query_row)));
  findings.push_back(counted("keys_without_query", rows(zeros.key_row)));
  if (p.head_dim_rope == 0) return findings;
  check(names.dq_rope, *outputs.dq_rope, query_rope_extents(p), zeros.query_row,
        of_query(p.head_dim));
  check(names.dk_rope, *outputs.dk_rope, key_rope_extents(p), zeros.key_row,
        of_key(floor.dk, dense.width(), p.head_dim));
  return findings;
}

}  // namespace assay::conformance::attention
