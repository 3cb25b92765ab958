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

/// Functions that judge output values, for every operator.
namespace assay::conformance {

/// Returns the more severe of two decisions on the values of one case; the first one if they are
/// equally severe.
Decision graver(Decision a, Decision b);

/// Writes the decision on the values of a case into the report. Counts among the findings become
/// fields. Removes the error maps if the case conforms.
void conclude(CaseReport& report, Decision decision);

/// Returns the decision that follows from the findings on the structure of the outputs.
Decision structure_decision(const std::vector<Finding>& findings);

/// A negative control is a deliberately wrong output, such as zeros. Completes the reports of the
/// tensors and returns the decision that follows from the controls of all tensors. A case whose
/// expected values are all zero does not count as coverage.
Decision control_decision(const std::vector<ControlResult>& controls, CaseReport& report);

/// Returns the decision that follows from the negative controls of the tensors in `report`, for an
/// exact case. No control is run: wrong bits are always detected, so a control counts as detected
/// in every tensor that has an expected row with a value other than zero.
Decision exact_control_decision(CaseReport& report);

/// Returns the expected values of an exact tensor as they are stored: only the final cast of the
/// exact value is correct.
Expected expected_of(const ExactTensor& tensor);

/// Returns the verdict `inconclusive` if more than 1 % of the judged elements are exempt.
Decision exemption_decision(CaseReport& report);

/// Returns the numbers of the rows to judge: `wanted` rows of every sequence and head; all rows if
/// `wanted` is 0.
std::vector<std::int64_t> judged_of(const spec::Extents& extents, std::int64_t wanted,
                                    std::uint64_t seed);

/// Returns the values of some rows of an output with this layout, as a row-major array (rows, dim).
std::vector<double> row_values(const RowsOf& rows, const spec::Tensor& tensor, spec::Layout layout);
/// Returns the values of some rows of the output with this name. Errors: std::logic_error if the
/// output does not exist.
template <class Outputs>
std::vector<double> values_of(const RowsOf& rows, const Outputs& outputs, spec::Layout layout) {
  const spec::Tensor* named = find_tensor(outputs, rows.tensor);
  if (named == nullptr) throw std::logic_error("no output " + rows.tensor);
  return row_values(rows, *named, layout);
}

/// An output of an exact case: its exact values, and the values to judge.
struct ExactOutput {
  ExactTensor tensor;
  const spec::Tensor* output;
  spec::Extents extents;
  /// Both functions work on channel d of a row. element: its index in the storage; floor: numbers
  /// up to this magnitude count as 0.
  std::function<std::int64_t(const spec::RowPosition&, std::int64_t d)> element;
  std::function<double(const spec::RowPosition&, std::int64_t d)> floor;
};

/// Compares every element of the judged rows with the exact value, after the cast that the numerics
/// declare: all bits must agree. If the exact value is 0, values up to the floor are allowed. Adds
/// one TensorReport per output and the findings. The verdict becomes nonconformant_structural if a
/// value differs, and vacuous if no element was compared; if the verdict is still tool_failure, it
/// becomes conforms.
void judge_exact(const std::vector<ExactOutput>& outputs, const spec::Numerics& numerics,
                 CaseReport& report);

}  // namespace assay::conformance
