#pragma once

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::exact {

/// The exact case of `c`, its queries attending to what `key_pattern` says instead of a mask. The
/// inputs hold no mask. Errors: NoExactCase.
ExactCaseCase attending(const Case<spec::FlashAttentionScoreGrad>& c,
                        const spec::Numerics& numerics, const KeyPattern& key_pattern);

}  // namespace assay::conformance::exact
