#pragma once

#include <vector>

#include "assay/reference/operands.hpp"
#include "assay/reference/side_inputs.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::reference {

/// Softmax statistics and attention output of every query row, in the order of
/// `spec::Extents::row`.
template <class Real>
struct Forward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// Computes all rows of FlashAttentionScore, as inputs for the gradient. Rows of a sequence without
/// keys get the statistics of a fully masked row: softmax_max -FLT_MAX and softmax_sum FLT_MAX.
template <class Real>
Forward<Real> forward(const spec::AttentionProblem& problem, const Operands<Real>& operands,
                      const SideInputs& side);

}  // namespace assay::reference
