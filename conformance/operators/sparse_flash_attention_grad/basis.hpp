#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "attention/bound/bound.hpp"
#include "attention/dense.hpp"
#include "judge/basis.hpp"
#include "judge/definition.hpp"

namespace assay::conformance::sparse_flash {

using Op = spec::SparseFlashAttentionGrad;

/// Returns the problem of the same attention with dense tensors, all other fields as by default.
spec::AttentionProblem dense_problem(const Op::Problem& problem);

/// Returns the documented name of the gradient that attention calls dq, dk, dv, dq_rope or dk_rope.
const char* documented(std::string_view name);

/// Returns the case as attention to the keys of the lists: the same tensors, with the statistics in
/// the form that attention reads. A row that sees no key gets the statistics of a fully masked row.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// Returns the definition (the high-precision reference). It keeps references to the arguments.
std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The data with which a case is judged. All rows are judged.
class Basis {
 public:
  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Expectation> expectations();
  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  bool consistent() const { return !row_terms_ || row_terms_->consistent; }
  bool is_certifiable() const { return arithmetic_.numerics.delta == spec::RowTerm::given; }
  std::unique_ptr<Definition> definition() const { return definition_of(case_.problem, inputs_); }
  std::vector<TileSums> tile_sums(bool /*averages*/) const { return {}; }
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
  const Arithmetic& arithmetic_;
  attention::Dense dense_;
  attention::JudgedRows judged_;
  std::optional<attention::AllRowTerms> row_terms_;
};

}  // namespace assay::conformance::sparse_flash
