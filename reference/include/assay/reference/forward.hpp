#pragma once

#include <vector>

#include "assay/reference/operands.hpp"
#include "assay/reference/side_inputs.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// Softmax statistics and attention output of every query row, in the order of
/// `spec::Extents::row`.
template <class Real>
struct Forward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// The forward operator, computed from its definition. The statistics are those of the
/// probabilities before dropout; the output includes dropout. A fully masked row has softmax_max
/// -FLT_MAX, softmax_sum FLT_MAX and output 0.
/// Source: FlashAttentionScoreGrad.md (formulas).
template <class Real>
Forward<Real> forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                      const Operands<Real>& operands, const SideInputs& side);

}  // namespace assay::reference
