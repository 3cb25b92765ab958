#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "attention/exact/forward.hpp"
#include "attention/forward_basis.hpp"

namespace assay::conformance::selected_forward {

using Op = spec::NsaSelectedAttention;

/// A case whose correct outputs are known exactly, in any order of summation.
struct ExactCase {
  Op::Inputs inputs;
  exact::ForwardAnswer answer;  ///< empty for ExactPart::inputs
};

/// Returns dense copies of the tensors, and the key pattern that the lists define. Errors: those of
/// ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The data with which a case is judged. In this kind of attention, lists define to which keys a
/// query attends, and how often.
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
