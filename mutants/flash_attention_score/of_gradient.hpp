#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

/// Mutants of the forward. A plain gradient kernel also computes the forward step by step, and many
/// of its faults are in shared steps: mask, bias, dropout, layouts, sequences, roundings.
namespace assay::mutants::attention_forward {

using Op = spec::FlashAttentionScore;

/// A forward implementation that calls the forward steps of a gradient kernel.
class OfGradient : public spec::Implementation<Op> {
 public:
  using Kernel = spec::Implementation<spec::FlashAttentionScoreGrad>;

  OfGradient(std::string name, std::unique_ptr<Kernel> kernel);

  std::string name() const override { return name_; }
  spec::Numerics numerics(const Op::Problem& problem) const override;
  bool checks_arguments() const override { return false; }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 private:
  std::string name_;
  std::unique_ptr<Kernel> kernel_;
};

std::vector<MutantOf<Op>> argument_mutants();
/// Returns kernels of the gradient with different treatments of the attention sink in their forward
/// steps. The test cases of the gradient do not use them.
std::vector<Mutant> sinks_of_forward();

}  // namespace assay::mutants::attention_forward
