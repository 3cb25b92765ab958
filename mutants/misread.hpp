#pragma once

#include <cstdint>
#include <functional>

#include "assay/spec/tensor.hpp"

/// Functions that read or write tensors at wrong addresses, like a faulty kernel. Addresses beyond
/// the end of the storage continue at its start, so no access leaves the storage.
namespace assay::mutants {

/// Returns a contiguous tensor; its element k has the value of element place(k) of the given
/// tensor.
spec::Tensor misread(const spec::Tensor& tensor,
                     const std::function<std::int64_t(std::int64_t)>& place);

/// Returns a contiguous tensor with the values that a kernel reads if it uses the strides of
/// another tensor.
spec::Tensor read_with_strides(const spec::Tensor& tensor, const spec::Shape& strides);

/// Returns the element that a kernel reads if it computes byte offsets in 32 bits.
std::int64_t place_in_32_bits(std::int64_t element, spec::DType dtype);

/// Writes `written`, a contiguous tensor of the same shape, to `tensor` with 32-bit byte offsets.
void write_in_32_bits(const spec::Tensor& written, spec::Tensor& tensor);

/// Fault: the kernel reads one input with the strides of another input.
template <class Op, class Kernel, auto input, auto other>
struct ReadsWithStridesOf : Kernel {
  void run(const typename Op::Problem& p, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    changed.*input = read_with_strides(inputs.*input, (inputs.*other).strides);
    Kernel::run(p, changed, outputs);
  }
};

/// Fault: the kernel writes one output with the strides of another tensor, if these writes stay
/// within the output's storage.
template <class Op, class Kernel, auto output, auto other>
struct WritesWithStridesOf : Kernel {
  void run(const typename Op::Problem& p, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    spec::Tensor& written = outputs.*output;
    const spec::Shape own = written.strides;
    spec::Shape strides;
    if constexpr (requires { inputs.*other; })
      strides = (inputs.*other).strides;
    else
      strides = (outputs.*other).strides;
    const auto room = static_cast<std::int64_t>(written.bytes.size()) / size_of(written.dtype);
    if (spec::storage_elements(written.shape, strides, written.offset) <= room)
      written.strides = strides;
    Kernel::run(p, inputs, outputs);
    written.strides = own;
  }
};

/// Fault: the kernel computes the byte offsets of one input in 32 bits.
template <class Op, class Kernel, auto input>
struct CountsBytesIn32Bits : Kernel {
  void run(const typename Op::Problem& p, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    changed.*input = misread(
        inputs.*input, [&](std::int64_t element) { return place_in_32_bits(element, p.dtype); });
    Kernel::run(p, changed, outputs);
  }
};

}  // namespace assay::mutants
