#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "judge/basis.hpp"
#include "operators/nsa_compress_grad/bound.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// The data for the judgement of a case; judge/basis.hpp describes the members.
class Basis {
 public:
  using Op = spec::NsaCompressGrad;

  Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);

  std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
  std::vector<Expectation> expectations() const;
  std::vector<TileSums> tile_sums(bool averages);
  bool consistent() const { return true; }  ///< no input is the result of another one
  std::unique_ptr<Definition> definition() const;
  bool is_certifiable() const { return true; }
  std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;

 private:
  const Case<Op>& case_;
  const Op::Inputs& inputs_;
  const Arithmetic& arithmetic_;
  compress::Dense dense_;
  compress::JudgedRows judged_;
};

}  // namespace assay::conformance::compress
