#pragma once

#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::exact_case_test {

inline constexpr std::int64_t configurations = 66;

/// Returns test case k of 0 .. configurations - 1. The cases cycle through data types, layouts,
/// ratios of query heads to key heads, lengths, head sizes, masks and strides.
Case<spec::FlashAttentionScoreGrad> configuration(std::int64_t k, std::uint64_t seed, Track track);

/// Returns cases with packed sequences, sparse modes 5 to 8, dropout, position bias and rope. Each
/// case has one or two of these features.
std::vector<Case<spec::FlashAttentionScoreGrad>> family(std::uint64_t seed, Track track);

/// One head with seq queries, seq keys and head_dim channels, in bf16, without a mask.
Case<spec::FlashAttentionScoreGrad> square(std::int64_t seq, std::int64_t head_dim, Track track);

}  // namespace assay::conformance::exact_case_test
