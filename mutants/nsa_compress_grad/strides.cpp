#include "misread.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {

std::vector<Mutant> stride_mutants() {
  using I = Op::Inputs;
  return {
      inject.injected<ReadsWithStridesOf<Op, Kernel, &I::output_grad, &I::input>>(
          "output_grad_strides_of_input", "output_grad is read with the strides of input"),
      inject.injected<WritesWithStridesOf<Op, Kernel, &Op::Outputs::input_grad, &I::input>>(
          "input_grad_strides_of_input", "input_grad is written with the strides of input"),
      inject.injected<CountsBytesIn32Bits<Op, Kernel, &I::input>>(
          "input_bytes_in_32_bits", "byte offsets in input are computed in 32 bits"),
  };
}

}  // namespace assay::mutants::compress::grad
