#pragma once

#include <memory>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "judge/basis.hpp"
#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"
#include "judge/structure.hpp"

namespace assay::conformance {

/// The Basis (data for judging a case) of an operator that has only a reference and tolerances. All
/// rows of its outputs are judged, and an element only has to be within its tolerance. The outputs
/// have the layout `layout`. No input is the result of another computation. An operator derives
/// from this class and adds `expectations()`. If it also adds `definition()` (the reference in high
/// precision), the references are checked with it (E30); otherwise the reference in double is
/// accepted.
template <class Op, spec::Layout layout>
class PlainBasis {
 public:
  using Outputs = typename Op::Outputs;

  /// Keeps references to all arguments.
  PlainBasis(const Case<Op>& c, const typename Op::Inputs& inputs, const Arithmetic& arithmetic)
      : case_(c), inputs_(inputs), arithmetic_(arithmetic) {}

  /// Checks that every element of the view was written, and that no storage outside the view was
  /// changed.
  std::vector<Finding> check_structure(const Outputs& outputs) const {
    std::vector<Finding> findings;
    for (const TensorOf& output : all_tensors(outputs))
      check_storage(output.name, *output.tensor, findings);
    return findings;
  }
  bool consistent() const { return true; }
  std::unique_ptr<Definition> definition() const { return nullptr; }
  std::vector<TileSums> tile_sums(bool /*averages*/) const { return {}; }
  std::vector<double> values(const RowsOf& rows, const Outputs& outputs) const {
    return values_of(rows, outputs, layout);
  }

 protected:
  const Case<Op>& case_;
  const typename Op::Inputs& inputs_;
  const Arithmetic& arithmetic_;
};

}  // namespace assay::conformance
