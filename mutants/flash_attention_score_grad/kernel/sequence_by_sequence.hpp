#pragma once

#include "flash_attention_score_grad/kernel/kernel.hpp"

namespace assay::mutants {

/// A kernel for one sequence, called once for every sequence of TND on tensors cut out of the
/// packed ones.
class SequenceBySequence : public Kernel {
 public:
  using Kernel::Kernel;
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;
};

}  // namespace assay::mutants
