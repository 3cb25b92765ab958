#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// Attention as all operators of its kind have it: dense, with the words of the most general one.
namespace assay::conformance {

/// What the engines of attention take of a case.
struct AttentionCase {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashEntryPoint entry_point{};
  spec::Product product = spec::Product::a2;
  spec::Strides inputs, outputs;
  Track track = Track::bound;
  std::int64_t rows = 0;
  std::uint64_t seed = 1;
};

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct AttentionExactCase {
  spec::FlashAttentionScoreGrad::Inputs inputs;
  /// Exact gradients before the final cast, rows x dim in the order of `query_rows` and `key_rows`.
  std::vector<Dyadic> dq, dk, dv;
  std::vector<Dyadic> dq_rope, dk_rope;  ///< empty if head_dim_rope is 0
  std::vector<std::int64_t> query_rows,
      key_rows;                 ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t muted_rows = 0;  ///< live query rows whose dy had to be 0
};

/// A scale_value that the exact case takes: +-2^-a or +-3*2^-a near 1/sqrt(head_dim) and never
/// equal to it, since there a kernel that ignores scale_value would pass. Accepted at all: -4 <= a
/// <= 9, any sign.
double exact_case_scale(const spec::FlashAttentionScoreGrad::Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance
