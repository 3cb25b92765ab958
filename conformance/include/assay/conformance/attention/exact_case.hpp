#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/report/report.hpp"
#include "assay/spec/dtype.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// A scale_value that the exact case takes: +-2^-a or +-3*2^-a near 1/sqrt(head_dim) and never
/// equal to it, since there a kernel that ignores scale_value would pass. Accepted at all: -4 <= a
/// <= 9, any sign.
double exact_case_scale(const spec::FlashAttentionScoreGrad::Problem& problem, std::uint64_t seed);

/// The exact case with the mask tensor as an argument; nothing: no mask.
/// Cost: O((rows + keys) * dim) whatever the mask: every row attends to at most eight keys.
/// Errors: NoExactCase.
ExactCaseCase make_exact_case_with_mask(const Case<spec::FlashAttentionScoreGrad>& c,
                                        const spec::Numerics& numerics,
                                        std::optional<spec::Tensor> atten_mask);

}  // namespace assay::conformance
