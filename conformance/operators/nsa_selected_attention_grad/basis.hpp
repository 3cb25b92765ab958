#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/basis.hpp"

namespace assay::conformance::selected {

/// The data that the judge needs for one case. In this operator, lists define to which keys a query
/// attends, and how often.
class Basis : public AttentionBasis {
 public:
  using Op = spec::NsaSelectedAttentionGrad;

  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::unique_ptr<Definition> definition() const;
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
};

}  // namespace assay::conformance::selected
