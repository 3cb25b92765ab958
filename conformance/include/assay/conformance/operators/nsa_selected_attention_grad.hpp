#pragma once

#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/selection/suite.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// A case whose inputs make every correct kernel compute the same outputs, bit by bit, in any order
/// of summation.
struct SelectedExactCase {
  spec::NsaSelectedAttentionGrad::Inputs inputs;
  AttentionExactCase dense;  ///< the same case as attention to the listed keys
};

namespace selected {
class Basis;
struct RelationParts;
}  // namespace selected

/// The suite for the gradient of attention to selected blocks. It uses the code of attention, with
/// block lists in place of the mask.
template <>
struct Suite<spec::NsaSelectedAttentionGrad> : selection::SuiteOf<spec::NsaSelectedAttentionGrad> {
  using Op = spec::NsaSelectedAttentionGrad;
  using Basis = selected::Basis;
  using RelationParts = selected::RelationParts;
  using Exact = SelectedExactCase;

  /// Generates the inputs. The statistics and attention_out are the results of a forward pass,
  /// rounded as the operator stores them.
  static Op::Inputs draw(const Case<Op>& c);
  static bool has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                const Op::Inputs& inputs);

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const Op::Problem& problem);
  static void compare_exact(const Exact& exact_case, const Op::Problem& problem,
                            const Op::Outputs& outputs, const spec::Numerics& numerics,
                            CaseReport& report);

  static Intermediates intermediates(const Op::Problem& problem, const Op::Inputs& inputs);
};

}  // namespace assay::conformance
