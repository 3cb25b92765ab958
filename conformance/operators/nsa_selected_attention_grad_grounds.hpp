#pragma once

#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "grounds.hpp"
#include "operators/flash_attention_score_grad_bound.hpp"
#include "operators/flash_attention_score_grad_dense.hpp"

namespace assay::conformance {

template <>
class Grounds<spec::NsaSelectedAttentionGrad> {
 public:
  using Op = spec::NsaSelectedAttentionGrad;

  Grounds(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::vector<Expectation> expectations();
  bool consistent() const { return consistent_; }
  Certificate certify() const;
  bool is_certifiable() const { return arithmetic_.profile.delta == spec::Origin::given; }
  std::vector<double> judged_values(const Expectation& e, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
  const Arithmetic& arithmetic_;
  flash::Dense dense_;
  flash::JudgedRows judged_;
  bool consistent_ = true;
};

}  // namespace assay::conformance
