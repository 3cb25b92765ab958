#pragma once

#include <cstdint>
#include <functional>

#include "assay/spec/tensor.hpp"

/// Tensors as a kernel sees them that computes wrong places. Memory outside a storage is never
/// touched: places beyond its end begin again at its start.
namespace assay::mutants {

/// A contiguous tensor of the numbers that lie at `place(element)` instead of `element`.
spec::Tensor misread(const spec::Tensor& tensor,
                     const std::function<std::int64_t(std::int64_t)>& place);

/// A contiguous tensor of the numbers that lie where the strides of another tensor lead to.
spec::Tensor read_with_strides(const spec::Tensor& tensor, const spec::Shape& strides);

/// The element that a kernel finds which counts bytes in 32 bits.
std::int64_t place_in_32_bits(std::int64_t element, spec::DType dtype);

/// Writes the numbers of `written`, a contiguous tensor of the same shape, to the elements of
/// `tensor` whose bytes are counted in 32 bits.
void write_in_32_bits(const spec::Tensor& written, spec::Tensor& tensor);

/// A kernel that reads one input with the strides of another.
template <class Op, class Kernel, auto input, auto other>
struct ReadsWithStridesOf : Kernel {
  using Kernel::Kernel;
  void run(const typename Op::Problem& p, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    changed.*input = read_with_strides(inputs.*input, (inputs.*other).strides);
    Kernel::run(p, changed, outputs);
  }
};

/// A kernel that counts the bytes before an element of one input in 32 bits.
template <class Op, class Kernel, auto input>
struct CountsBytesIn32Bits : Kernel {
  using Kernel::Kernel;
  void run(const typename Op::Problem& p, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    changed.*input = misread(
        inputs.*input, [&](std::int64_t element) { return place_in_32_bits(element, p.dtype); });
    Kernel::run(p, changed, outputs);
  }
};

}  // namespace assay::mutants
