#pragma once

#include <optional>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/bound/bound.hpp"
#include "attention/dense.hpp"
#include "judge/basis.hpp"

namespace assay::conformance::selected {

/// What the judgement of a case rests on; the members are those that judge/basis.hpp describes.
class Basis {
 public:
  using Op = spec::NsaSelectedAttentionGrad;

  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::vector<Expectation> expectations();
  std::vector<TileSums> tile_sums(bool averages);
  bool consistent() const { return !row_terms_ || row_terms_->consistent; }
  Certificate certify() const;
  bool is_certifiable() const { return arithmetic_.numerics.delta == spec::Origin::given; }
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const flash::AllRowTerms& row_terms();

  const Case<Op>& case_;
  const Op::Inputs& inputs_;
  const Arithmetic& arithmetic_;
  flash::Dense dense_;
  flash::JudgedRows judged_;
  std::optional<flash::AllRowTerms> row_terms_;
};

}  // namespace assay::conformance::selected
