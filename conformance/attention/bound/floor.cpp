#include <algorithm>
#include <cmath>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/parallel/loop.hpp"
#include "attention/bound/bound.hpp"
#include "attention/bound/sums.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention {
namespace {

/// For one group of query heads, adds the contribution of each query to the floor of the kv head.
/// The floor is the largest number that a kernel may write instead of an exact zero.
void add_group(const Dense& dense, std::int64_t b, std::int64_t kv, double largest_value,
               Floor& floor) {
  const Op::Problem& p = dense.problem;
  const std::int64_t head = b * p.heads_kv + kv;
  const auto times = static_cast<double>(dense.key_pattern->most_times());
  const double scale = times * std::abs(dense.scale), kappa = dense.largest_kappa;
  for (std::int64_t n = kv * p.group(); n < (kv + 1) * p.group(); ++n)
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const FloatRow dy = dense.dy(b, n, i);
      const std::vector<double> o = dense.attention_in(b, n, i);
      double row = kappa * std::sqrt(norm_squared(dy.data(), p.head_dim_v) * largest_value);
      for (std::int64_t d = 0; d < p.head_dim_v; ++d) row += std::abs(dy[d] * o[at(d)]);
      floor.query_row[at(dense.queries.row(b, n, i))] = row;
      add_scaled_abs(scale * row, dense.query(b, n, i).data(), dense.width(),
                     floor.dk.data() + head * dense.width());
      add_scaled_abs(times * kappa, dy.data(), p.head_dim_v, floor.dv.data() + head * p.head_dim_v);
    }
}

}  // namespace

/// E23.
Floor floor_of(const Dense& dense) {
  const Op::Problem& p = dense.problem;
  const std::int64_t heads = p.batch * p.heads_kv, width = dense.width();
  Floor floor{.query_row = std::vector<double>(at(dense.queries.rows())),
              .key_sum = std::vector<double>(at(heads * width), 0.0),
              .dk = std::vector<double>(at(heads * width), 0.0),
              .dv = std::vector<double>(at(heads * p.head_dim_v), 0.0)};
  const double scale = static_cast<double>(dense.key_pattern->most_times()) * std::abs(dense.scale);
  const auto add = [&](std::int64_t head) {
    const std::int64_t b = head / p.heads_kv, kv = head % p.heads_kv;
    double largest_value = 0;
    for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
      const FloatRow value = dense.value(b, kv, j);
      largest_value = std::max(largest_value, norm_squared(value.data(), p.head_dim_v));
      add_scaled_abs(scale, dense.key(b, kv, j).data(), width, floor.key_sum.data() + head * width);
    }
    add_group(dense, b, kv, largest_value, floor);
  };
  parallel::for_each(heads, add);
  if (score_variant_of(dense) != nullptr) {
    const double slope = largest_slope_of(dense);
    for (std::vector<double>* of_dscore : {&floor.query_row, &floor.dk})
      for (double& size : *of_dscore) size *= slope;
  }
  return floor;
}

}  // namespace assay::conformance::attention
