#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/basis.hpp"

namespace assay::conformance::attention::flash {

/// The data that the judge needs for one case. In this operator, a mask defines the keys to which
/// each query attends.
class Basis : public AttentionBasis {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  /// Returns the expected values of all outputs: those of AttentionBasis, dsink if the case has a
  /// sink, and the gradients of a user-defined formula if the case requests them.
  std::vector<Expectation> expectations();
  std::vector<Expectation> frames();
  void each_part(const TakePart& take);
  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  /// Judges sums over a part that a kernel must not round, and adds notes about likely faults to
  /// the start of `findings`. Does nothing in cases without a part.
  Decision check_part(const std::vector<Expectation>& expectations, const Op::Outputs& outputs,
                      std::vector<Finding>& findings) const;
  std::unique_ptr<Definition> definition() const;
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;
  /// Judges the saved values softmax_max, softmax_sum and attention_in as results of a forward. The
  /// tolerances are those of the relation `cascade` (a forward followed by its gradient).
  static Decision judge_saved_values(const Case<Op>& c, const Op::Inputs& inputs,
                                     const spec::Numerics& numerics, CaseReport& report);

 private:
  /// Returns the expected values of those outputs that sum over all queries of several heads.
  std::vector<Expectation> sums_over_queries();
  std::vector<Finding> check_gradients(const Op::Outputs& outputs) const;

  const Case<Op>& case_;
  const Op::Inputs& inputs_;
};

}  // namespace assay::conformance::attention::flash
