#pragma once

#include <cstdint>
#include <limits>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::attention {

/// The statistics softmax_max and softmax_sum of one row.
struct RowStatistics {
  double max, sum;
};

/// The statistics of a fully masked row.
inline constexpr RowStatistics dead_statistics = {-std::numeric_limits<float>::max(),
                                                  std::numeric_limits<float>::max()};

/// Returns the statistics of the fully masked rows in sequence b. For a sequence without keys, the
/// vendor's software writes maximum 0 and sum 0. In this case the random seed decides whether the
/// result is 0 and 0 or the values for other fully masked rows.
inline RowStatistics dead_statistics_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                        std::int64_t b, std::uint64_t seed) {
  const bool is_keyless = is_packed(problem.input_layout) && problem.length_kv(b) == 0;
  const Random random = stream(seed, Stream::statistics);
  if (is_keyless && random.integer(static_cast<std::uint64_t>(b), 0, 1) == 0) return {0, 0};
  return dead_statistics;
}

}  // namespace assay::conformance::attention
