#include "attention/flash/memory.hpp"

#include <algorithm>

#include "assay/spec/attention.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;
using spec::DType;

double product(const spec::Shape& shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

double scores(const Problem& p) {
  if (p.lengths_q.empty() && p.lengths_kv.empty())
    return product({p.batch, p.heads_q, p.seq_q, p.seq_kv});
  return static_cast<double>(spec::score_count(p));
}

double elements(const spec::Extents& e) {
  if (e.ends.empty() && e.padding == 0) return product({e.batch, e.heads, e.seq, e.dim});
  return product({e.tokens() + e.padding, e.heads, e.dim});
}

/// Element counts of all tensors of a problem, grouped by the use of the tensors.
struct Sizes {
  double multiplied = 0;  ///< inputs of the operator's dtype
  double outputs = 0;
  double statistics = 0;  ///< softmax_max and softmax_sum
  double mask = 0, pse = 0, drop_bytes = 0;
  double rows = 0, attention = 0;  ///< results of the forward
  double largest = 0, largest_output = 0;
};

Sizes sizes_of(const Problem& p) {
  const double query = elements(query_extents(p)), key = elements(key_extents(p)),
               value = elements(value_extents(p)), dy = elements(dy_extents(p)),
               ropes = elements(query_rope_extents(p)) + elements(key_rope_extents(p));
  Sizes s{.multiplied = query + key + value + 2 * dy + ropes,
          .outputs = query + key + value + ropes,
          .rows = query / static_cast<double>(p.head_dim),
          .attention = dy};
  s.statistics = 2 * spec::statistics_replicas * s.rows;
  if (p.atten_mask != spec::MaskShape::absent) s.mask = product(spec::mask_shape(p));
  if (p.pse_shift == spec::PseShape::packed_bnss)
    s.pse = scores(p);
  else if (p.pse_shift != spec::PseShape::absent)
    s.pse = product(spec::pse_shape(p));
  if (p.drop_mask != spec::DropMask::absent) s.drop_bytes = scores(p) / 8 + 48;
  s.largest_output = std::max({query, key, value});
  // Counts the bits of a drop mask instead of its bytes, because a kernel may compute bit indices.
  s.largest =
      std::max({query, key, value, dy, ropes, s.statistics, s.mask, s.pse, 8 * s.drop_bytes});
  return s;
}

}  // namespace

double largest_tensor(const Problem& p) { return sizes_of(p).largest; }

double memory_estimate(const Problem& p) {
  const Sizes s = sizes_of(p);
  const auto width = [](DType dtype) { return static_cast<double>(size_of(dtype)); };
  constexpr double borrowed = 2, runs_and_untouched = 3;
  constexpr double element_list = 9;  // of the output whose storage is being checked
  constexpr double of_row = 180;      // bytes: statistics and row terms, with their errors
  constexpr double of_sum = 60, sums_at_once = 5 << 18;
  return s.multiplied * borrowed * width(p.dtype) +
         s.outputs * runs_and_untouched * width(p.dtype) + s.largest_output * element_list +
         s.statistics * borrowed * width(DType::fp32) + s.pse * borrowed * width(pse_dtype(p)) +
         borrowed * (s.mask + s.drop_bytes) + (s.attention + 2 * s.rows) * width(DType::fp64) +
         s.rows * of_row + std::min(s.outputs, sums_at_once) * of_sum;
}

}  // namespace assay::conformance::attention::flash
