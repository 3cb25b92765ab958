#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/decision.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"
#include "judge/basis.hpp"

/// What the judgement of every operator's numbers is put together from.
namespace assay::conformance {

/// The graver of two decisions on one case's numbers; the first where they are equally grave.
Decision graver(Decision a, Decision b);

/// The decision on a case's numbers with what all of them amount to as its evidence, if none
/// objects.
Decision summed_up(Decision decision, const CaseReport& report);

/// Writes the decision into the report, as `summed_up` says it. Where the errors lie is kept of
/// cases that do not conform.
void conclude(CaseReport& report, Decision decision);

/// What the findings on the structure of the outputs decide.
Decision structure_decision(const std::vector<Finding>& findings);

/// The decision of the negative controls of all tensors, whose reports it completes; a case in
/// which only zeros are due earns no coverage.
Decision control_decision(const std::vector<ControlResult>& controls, CaseReport& report);

/// The same on the exact case, whose tensors are in the report: a control is caught wherever an
/// exact gradient is not zero, since its corruption has other bits.
Decision exact_control_decision(CaseReport& report);

/// As it is stored: nothing but what the final cast makes of the exact value is right.
Expected expected_of(const ExactTensor& tensor);

/// Inconclusive where more than one judged element in a hundred is exempt.
Decision exemption_decision(CaseReport& report);

/// Rows that are judged of every sequence and head, by their number: `wanted` of each, 0: all.
std::vector<std::int64_t> judged_of(const spec::Extents& extents, std::int64_t wanted,
                                    std::uint64_t seed);

/// Rows of an output, which lie in it as the layout says, (rows, dim) row-major.
std::vector<double> row_values(const RowsOf& rows, const spec::Tensor& tensor, spec::Layout layout);
/// Of the output of that name. Errors: std::logic_error if there is none.
template <class Outputs>
std::vector<double> values_of(const RowsOf& rows, const Outputs& outputs, spec::Layout layout) {
  const spec::Tensor* named = nullptr;
  visit_tensors(outputs, [&](std::string_view name, const spec::Tensor& tensor) {
    if (name == rows.tensor) named = &tensor;
  });
  if (named == nullptr) throw std::logic_error("no output " + rows.tensor);
  return row_values(rows, *named, layout);
}

/// One output of an exact case: what it holds and what it must hold.
struct ExactOutput {
  ExactTensor tensor;
  const spec::Tensor* output;
  spec::Extents extents;
  /// Of the channel d of a row: its element in the storage, and |x| up to which it counts as 0.
  std::function<std::int64_t(const spec::RowPosition&, std::int64_t d)> element;
  std::function<double(const spec::RowPosition&, std::int64_t d)> floor;
};

/// Compares every element of the judged rows with the exact gradients, bit for bit after the cast
/// that the numerics declare; an exact 0 also admits residues up to its floor. Adds a
/// TensorReport per output and the findings. The verdict becomes nonconformant_structural on a
/// difference and vacuous if no element was compared; one that is still tool_failure becomes
/// conforms.
void judge_exact(const std::vector<ExactOutput>& outputs, const spec::Numerics& numerics,
                 CaseReport& report);

}  // namespace assay::conformance
