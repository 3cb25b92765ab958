#pragma once

#include <vector>

#include "assay/conformance/selection/suite.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"

namespace assay::conformance {

namespace selected_forward {
class Basis;
struct RelationParts;
struct ExactCase;
}  // namespace selected_forward

/// The suite for attention to selected blocks. It uses the code of attention, with block lists in
/// place of the mask.
template <>
struct Suite<spec::NsaSelectedAttention> : selection::SuiteOf<spec::NsaSelectedAttention> {
  using Op = spec::NsaSelectedAttention;
  using Basis = selected_forward::Basis;
  using RelationParts = selected_forward::RelationParts;
  using Exact = selected_forward::ExactCase;

  static Op::Inputs draw(const Case<Op>& c);
  static bool has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                const Op::Inputs& inputs);

  /// Builds an exact case (compared bit by bit). Its rows have weights 2^-k or 0. Cases of track
  /// exact_staged have no exact outputs: a kernel may round weights before or after it divides by
  /// the sum.
  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const Op::Problem& problem);
};

}  // namespace assay::conformance
