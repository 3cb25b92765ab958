#pragma once

#include <concepts>
#include <type_traits>

#include "assay/conformance/case.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// Calls visit(name, tensor) for every input, by its documented name.
template <class Inputs, class Visitor>
  requires std::same_as<std::remove_const_t<Inputs>, spec::NsaCompressGrad::Inputs>
void visit_tensors(Inputs& inputs, Visitor&& visit) {
  visit("output_grad", inputs.output_grad);
  visit("input", inputs.input);
  visit("weight", inputs.weight);
}

/// The same for outputs.
template <class Outputs, class Visitor>
  requires std::same_as<std::remove_const_t<Outputs>, spec::NsaCompressGrad::Outputs>
void visit_tensors(Outputs& outputs, Visitor&& visit) {
  visit("input_grad", outputs.input_grad);
  visit("weight_grad", outputs.weight_grad);
}

/// The tensors of a track B case, strided as the case says. In fp16 the numbers of input are smaller by a power of two
/// where weight_grad, a sum over all windows and channels, would overflow.
spec::NsaCompressGrad::Inputs make_inputs(const Case<spec::NsaCompressGrad>& c);

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison pattern.
spec::NsaCompressGrad::Outputs make_outputs(const Case<spec::NsaCompressGrad>& c);

}  // namespace assay::conformance
