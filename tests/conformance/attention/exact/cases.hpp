#pragma once

#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::exact_case_test {

inline constexpr std::int64_t configurations = 66;

/// Types, layouts, head ratios, lengths, head sizes, masks and stridings in turn, k = 0 ..
/// configurations - 1.
Case<spec::FlashAttentionScoreGrad> configuration(std::int64_t k, std::uint64_t seed, Track track);

/// Packed sequences, sparse modes 5 to 8, dropout, position bias and rope, one or two features at a
/// time.
std::vector<Case<spec::FlashAttentionScoreGrad>> family(std::uint64_t seed, Track track);

/// One head of seq x seq with head_dim channels, bf16, no mask.
Case<spec::FlashAttentionScoreGrad> square(std::int64_t seq, std::int64_t head_dim, Track track);

}  // namespace assay::conformance::exact_case_test
