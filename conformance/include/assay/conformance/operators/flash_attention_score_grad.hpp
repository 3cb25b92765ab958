#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// Builds an exact case with this mask tensor, or without a mask. Errors: NoExactCase if there is
/// no such case.
AttentionExactCase make_exact_case_with_mask(const Case<spec::FlashAttentionScoreGrad>& c,
                                             const spec::Numerics& numerics,
                                             std::optional<spec::Tensor> atten_mask,
                                             ExactPart part = ExactPart::all);

namespace attention::flash {
class Basis;
struct RelationParts;
}  // namespace attention::flash

/// The suite covers all documented layouts, masks, biases and dropouts of the operator.
template <>
struct Suite<spec::FlashAttentionScoreGrad> : flash::SuiteOf<spec::FlashAttentionScoreGrad> {
  using Op = spec::FlashAttentionScoreGrad;
  using Basis = flash::Basis;
  using RelationParts = flash::RelationParts;
  using Exact = AttentionExactCase;
  /// A case may have a part of the keys or queries (Case::part).
  static constexpr bool has_parts = true;

  /// Generates the inputs. The statistics and attention_in are the results of a forward pass,
  /// rounded as the operator stores them.
  static Op::Inputs draw(const Case<Op>& c);

  /// Adds the output dformula if the case has a formula whose gradients are judged. If the case has
  /// a part, gives the gradients that are sums over the part the type fp32.
  static void add_outputs(const Case<Op>& c, Op::Outputs& outputs);

  static Op::Inputs moved(const Op::Problem& problem, const Op::Problem& other,
                          const Op::Inputs& inputs);

  static bool has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                const Op::Inputs& inputs);
  /// Returns the approximate cost of one backward pass (multiply-adds).
  static double multiply_adds(const Op::Problem& problem);

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const Op::Problem& problem);
  static void compare_exact(const Exact& exact_case, const Op::Problem& problem,
                            const Op::Outputs& outputs, const spec::Numerics& numerics,
                            CaseReport& report);

  static Intermediates intermediates(const Op::Problem& problem, const Op::Inputs& inputs);

  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
};

}  // namespace assay::conformance
