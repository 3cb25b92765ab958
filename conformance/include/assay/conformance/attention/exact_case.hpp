#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// The common form of the exact cases of all attention operators: tensors as in
/// FlashAttentionScoreGrad, with the same names.
namespace assay::conformance {

/// The members of a case that all attention code uses.
struct AttentionCase {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashEntryPoint entry_point{};
  spec::Product product = spec::Product::a2;
  spec::Strides inputs, outputs;
  Track track = Track::bound;
  std::int64_t rows = 0;
  std::uint64_t seed = 1;
};

/// A case whose inputs make every correct kernel compute the same outputs, bit by bit, in any order
/// of summation.
struct AttentionExactCase {
  spec::FlashAttentionScoreGrad::Inputs inputs;
  /// Exact gradients before the final cast; shape (rows, dim). The rows are in the order of
  /// `query_rows` and `key_rows`.
  std::vector<Dyadic> dq, dk, dv;
  std::vector<Dyadic> dq_rope, dk_rope;  ///< empty if head_dim_rope is 0
  std::vector<std::int64_t> query_rows,
      key_rows;                 ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t muted_rows = 0;  ///< query rows with unmasked keys whose dy had to be 0
};

/// Returns the scale_value of an exact case: +-2^-a or +-3*2^-a near 1/sqrt(head_dim). It never
/// equals 1/sqrt(head_dim): otherwise a kernel that ignores scale_value would pass. An exact case
/// accepts -4 <= a <= 9 and both signs.
double exact_case_scale(const spec::FlashAttentionScoreGrad::Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance
