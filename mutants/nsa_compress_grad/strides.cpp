#include "misread.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

/// Reads output_grad with the strides of input.
struct OutputGradStridesOfInput : Kernel {
  using Kernel::Kernel;
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Op::Inputs changed = inputs;
    changed.output_grad = read_with_strides(inputs.output_grad, inputs.input.strides);
    Kernel::run(p, changed, outputs);
  }
};

/// Writes input_grad with the strides of input, within its storage.
struct InputGradStridesOfInput : Kernel {
  using Kernel::Kernel;
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    spec::Tensor& gradient = outputs.input_grad;
    const spec::Shape own = gradient.strides;
    const auto room =
        static_cast<std::int64_t>(gradient.bytes.size()) / spec::size_of(gradient.dtype);
    if (spec::storage_elements(gradient.shape, inputs.input.strides, gradient.offset) <= room)
      gradient.strides = inputs.input.strides;
    Kernel::run(p, inputs, outputs);
    outputs.input_grad.strides = own;
  }
};

/// Computes the byte offsets of input in 32 bits.
struct InputBytesIn32Bits : Kernel {
  using Kernel::Kernel;
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Op::Inputs changed = inputs;
    changed.input = misread(
        inputs.input, [&](std::int64_t element) { return place_in_32_bits(element, p.dtype); });
    Kernel::run(p, changed, outputs);
  }
};

}  // namespace

std::vector<Mutant> stride_mutants() {
  return {
      planted<OutputGradStridesOfInput>("compress_output_grad_strides_of_input",
                                        "output_grad is read with the strides of input"),
      planted<InputGradStridesOfInput>("compress_input_grad_strides_of_input",
                                       "input_grad is written with the strides of input"),
      planted<InputBytesIn32Bits>("compress_input_bytes_in_32_bits",
                                  "byte offsets in input are computed in 32 bits"),
  };
}

}  // namespace assay::mutants::compress
