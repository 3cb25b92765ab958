#pragma once

#include "flash_attention_score_grad/kernel/kernel.hpp"

namespace assay::mutants {

/// A kernel that computes one sequence per call. For the layout TND it is called once per sequence,
/// on tensors that are extracted from the packed tensors.
class SequenceBySequence : public Kernel {
 public:
  using Kernel::Kernel;
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;
};

}  // namespace assay::mutants
