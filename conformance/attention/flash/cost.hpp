#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attention/flash/traits.hpp"

namespace assay::conformance::attention::flash {

/// Estimates the fraction of unmasked scores in a sparse mode: one half for a causal mask; for a
/// band, at most the fraction of scores in the band.
inline double kept_share(const Problem& p) {
  if (p.atten_mask == spec::MaskShape::absent || p.sparse_mode == 1) return 1;
  if (p.sparse_mode != 0 && p.sparse_mode != 4) return 0.6;
  const double keys = std::max(1.0, static_cast<double>(p.seq_kv));
  const auto tokens = [&](std::int64_t count) {
    return std::min(static_cast<double>(count), keys);
  };
  return std::clamp((tokens(p.pre_tokens) + tokens(p.next_tokens) + 1) / keys, 0.02, 1.0);
}

/// Expected time of a case on one core, in seconds: a constant, plus the work per gradient element
/// and per unmasked score in the judged rows. The factors were fitted to the measured times of one
/// sweep.
template <class Op>
double expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const auto& p = c.problem;
  const double dims = static_cast<double>(p.head_dim + p.head_dim_v + p.head_dim_rope);
  const double scores = static_cast<double>(spec::score_count(p)) * kept_share(p);
  const double gradients = static_cast<double>(query_extents(p).rows()) *
                               static_cast<double>(p.head_dim + p.head_dim_rope) +
                           static_cast<double>(key_extents(p).rows()) * dims;
  if (c.track == Track::exact || c.track == Track::exact_staged)
    return 0.0045 + gradients * 1.2e-7 + scores * dims / 4e9;
  const auto judged_share = [&](std::int64_t extent) {
    return c.rows == 0 || extent == 0
               ? 1.0
               : std::min(1.0, static_cast<double>(c.rows) / static_cast<double>(extent));
  };
  const double pairs = scores * (judged_share(p.seq_q) + judged_share(p.seq_kv)) / 2;
  const double once = 0.008 + gradients * 1.7e-7 + pairs * (dims + 250) * 3.7e-10;
  // A case of track relation (comparison of runs) runs the kernel at least twice, and needs
  // tolerances for every element of each run.
  return c.track == Track::relation ? 2.5 * once : once;
}

inline std::int64_t tensor_elements(const Problem& p) {
  const auto rows = query_extents(p).rows() + p.group() * key_extents(p).rows();
  return rows * (p.head_dim + p.head_dim_rope);
}

}  // namespace assay::conformance::attention::flash
