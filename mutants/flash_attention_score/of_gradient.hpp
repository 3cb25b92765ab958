#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

/// The plain kernels of the gradient have a forward, step by step, and many of their faults are in
/// steps that the forward shares: mask, bias, dropout, layouts, sequences, roundings.
namespace assay::mutants::attention_forward {

using Op = spec::FlashAttentionScore;

/// A kernel that runs the forward of a kernel of the gradient.
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
/// Returns kernels of the gradient whose forward treats the sink in another way. The gradient has
/// no cases for them.
std::vector<Mutant> sinks_of_forward();

}  // namespace assay::mutants::attention_forward
