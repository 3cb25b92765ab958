#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "compression/kernel.hpp"

namespace assay::mutants::compress::grad {

using Op = spec::NsaCompressGrad;

/// The order of sums in the vendor's kernel on Atlas A2. This is an assumption.
inline constexpr SummingPlan device_like = {.summation = Summation::groups};

/// A plain gradient kernel of compression. Each window adds to the gradients of its tokens and to
/// the sums for the weight gradient; each core has its own sums for the weight gradient. Every step
/// is a virtual function, so that a mutant (kernel with a fault) can override the step that
/// contains the fault.
class Kernel : public WindowKernel<Op> {
 public:
  using WindowKernel::WindowKernel;

 protected:
  virtual bool reaches_weight(const WindowWork&, const TokenWindow&, std::int64_t /*n*/) const {
    return true;
  }
  virtual double add_to_input(const WindowWork& w, double sum, double term) const;
  virtual double channel_sum(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                             std::int64_t n) const;
  virtual double add_to_weight(const WindowWork& w, double sum, double term) const;
  /// Adds up the weight-gradient sums of all cores.
  virtual std::vector<double> joined(const WindowWork& w,
                                     std::vector<std::vector<double>> sums) const;

 private:
  void begin(WindowWork& w, const Op::Inputs& inputs, const Op::Outputs& outputs) const override;
  void add_window(WindowWork& w, const TokenWindow& window, std::size_t core) const override;
  void end(WindowWork& w, Op::Outputs& outputs) const override;
};

}  // namespace assay::mutants::compress::grad
