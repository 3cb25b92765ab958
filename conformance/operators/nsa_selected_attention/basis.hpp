#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "attention/exact/forward.hpp"
#include "attention/forward_basis.hpp"

namespace assay::conformance::selected_forward {

using Op = spec::NsaSelectedAttention;

/// A case for which the correct outputs are known exactly, for every order of summation.
struct ExactCase {
  Op::Inputs inputs;
  exact::ForwardAnswer answer;  ///< empty for ExactPart::inputs
};

/// Returns the tensors and the pattern of keys that the lists define. Keeps references to the
/// inputs.
/// Errors: the errors of ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs);
attention::Dense dense_of(const Op::Problem& problem, Op::Inputs&& inputs) = delete;

/// The data that the judge needs for one case. In this operator, lists define to which keys a query
/// attends, and how often.
class Basis : public ForwardBasis {
 public:
  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::unique_ptr<Definition> definition() const;
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
};

}  // namespace assay::conformance::selected_forward
