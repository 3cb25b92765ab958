#pragma once

#include <cstdint>

#include "assay/spec/operators/nsa_compress.hpp"
#include "compression/kernel.hpp"

namespace assay::mutants::compress::forward {

using Op = spec::NsaCompress;

/// The roundings and the order of sums in the vendor's kernel on Atlas A2, as far as we know. They
/// are assumptions.
inline constexpr SummingPlan device_like = {.round_out = spec::Rounding::rna};

/// A plain compression kernel: each channel of an output row is the weighted sum over the tokens of
/// a window. Every step is a virtual function, so that a mutant (kernel with a fault) can override
/// the step that contains the fault.
class Kernel : public WindowKernel<Op> {
 public:
  using WindowKernel::WindowKernel;

 protected:
  void begin(WindowWork& w, const Op::Inputs& inputs, const Op::Outputs& outputs) const override;
  virtual double term(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                      std::int64_t n, std::int64_t c) const;
  virtual double add(const WindowWork& w, double sum, double term) const;

 private:
  void add_window(WindowWork& w, const TokenWindow& window, std::size_t core) const override;
  void end(WindowWork& w, Op::Outputs& outputs) const override;
};

}  // namespace assay::mutants::compress::forward
