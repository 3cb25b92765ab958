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

/// Returns the corresponding problem of ordinary attention. Fields that only ordinary attention has
/// get their default values.
spec::AttentionProblem dense_problem(const Op::Problem& problem);

/// Returns the documented name of the gradient that the common attention code calls dq, dk, dv,
/// dq_rope or dk_rope.
const char* documented(std::string_view name);

/// Returns the case in the form of ordinary attention, in which each query attends to the keys of
/// its list. The tensors are the same; the statistics are converted. A row that sees no key gets
/// the statistics of a fully masked row. Keeps references to the inputs.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs);
attention::Dense dense_of(const Op::Problem& problem, Op::Inputs&& inputs) = delete;

/// Returns the definition of the operator, which is its reference in high precision. The definition
/// keeps references to the arguments.
std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The data that the judge needs for one case. All rows are judged.
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
