#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::conformance {

/// A case of FlashAttentionScore whose inputs make every correct kernel compute the same outputs,
/// bit by bit.
struct ForwardExactCase {
  spec::FlashAttentionScore::Inputs inputs;
  std::vector<Dyadic> softmax_max, softmax_sum,
      attention_out;               ///< before the final cast, rows x channels
  std::vector<std::int64_t> rows;  ///< ascending numbers of `spec::Extents::row`
};

namespace attention::flash_forward {
class Basis;
struct RelationParts;
}  // namespace attention::flash_forward
namespace flash_forward = attention::flash_forward;

/// The suite covers all documented layouts, masks, biases and dropouts of the operator.
template <>
struct Suite<spec::FlashAttentionScore> : flash::SuiteOf<spec::FlashAttentionScore> {
  using Op = spec::FlashAttentionScore;
  using Basis = flash_forward::Basis;
  using RelationParts = flash_forward::RelationParts;
  using Exact = ForwardExactCase;

  static Op::Inputs draw(const Case<Op>& c);
  static bool has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                const Op::Inputs& inputs);
  /// Returns the approximate cost of one run (multiply-adds).
  static double multiply_adds(const Op::Problem& problem);

  /// Builds an exact case with the inputs of an exact case of the gradient. Judges the rows that
  /// attend to 1, 2, 4 or 8 keys, or to none.
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
