#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/flash_attention_score.hpp"
#include "attention/forward_basis.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance::attention::flash_forward {

using Op = spec::FlashAttentionScore;

/// Returns the definition of the operator, which is its reference in high precision. `variant`: a
/// formula of the user, or null. The definition keeps references to problem and inputs.
std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs,
                                          std::shared_ptr<const Variant> variant = nullptr);

/// The data that the judge needs for one case: references, tolerances and structure checks.
class Basis : public ForwardBasis {
 public:
  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  /// Returns the same as `expectations`, except for softmax_sum: its tolerance is large enough for
  /// every maximum within the tolerance of softmax_max.
  std::vector<Expectation> expectations_of_run() const;
  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::unique_ptr<Definition> definition() const;
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
};

}  // namespace assay::conformance::attention::flash_forward
