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

/// Functions that judge the output values of any operator.
namespace assay::conformance {

/// Returns the more severe of two decisions about one case; the first one if both are equally
/// severe.
Decision graver(Decision a, Decision b);

/// Writes the decision about the output values into the report. Converts counts in the findings to
/// report fields. Removes the error maps if the case conforms.
void conclude(CaseReport& report, Decision decision);

/// Returns the decision from the structure findings, such as unwritten elements.
Decision structure_decision(const std::vector<Finding>& findings);

/// A negative control is a deliberately wrong output, such as zeros, that the judge must detect.
/// Returns the decision that follows from the controls of all tensors, and completes the tensor
/// reports. If all expected values are zero, the case does not count as coverage.
Decision control_decision(const std::vector<ControlResult>& controls, CaseReport& report);

/// Returns the decision that follows from the negative controls (deliberately wrong outputs) of an
/// exact case. The judge always detects wrong bits, so it does not run the controls. A control
/// counts as detected in every tensor that has a nonzero expected value.
Decision exact_control_decision(CaseReport& report);

/// Returns the expected values of a tensor that is known exactly: the only correct value is the
/// exact value after the final cast.
Expected expected_of(const ExactTensor& tensor);

/// Returns the verdict `inconclusive` if more than 1 % of the elements are exempt (cannot be judged
/// because of a possible overflow).
Decision exemption_decision(CaseReport& report);

/// Returns the numbers of the rows to judge: `wanted` rows of every sequence and head, or all rows
/// if `wanted` is 0.
std::vector<std::int64_t> judged_of(const spec::Extents& extents, std::int64_t wanted,
                                    std::uint64_t seed);

/// Returns the elements of some rows of an output with this layout, as a row-major array (rows,
/// dim).
std::vector<double> row_values(const RowsOf& rows, const spec::Tensor& tensor, spec::Layout layout);
/// Returns the elements of some rows of the output with this name. Errors: std::logic_error if
/// there is no such output.
template <class Outputs>
std::vector<double> values_of(const RowsOf& rows, const Outputs& outputs, spec::Layout layout) {
  const spec::Tensor* named = find_tensor(outputs, rows.tensor);
  if (named == nullptr) throw std::logic_error("no output " + rows.tensor);
  return row_values(rows, *named, layout);
}

/// One output of an exact case: the exact values, and the values that the kernel wrote.
struct ExactOutput {
  ExactTensor tensor;
  const spec::Tensor* output;
  spec::Extents extents;
  /// Functions for channel d of a row. element: returns its index in the storage. floor: returns
  /// the largest magnitude that counts as 0.
  std::function<std::int64_t(const spec::RowPosition&, std::int64_t d)> element;
  std::function<double(const spec::RowPosition&, std::int64_t d)> floor;
};

/// Compares the judged rows with the exact values after the final cast that the numerics (the
/// kernel's declared arithmetic) describe. All bits must agree. If the exact value is 0, small
/// values up to the floor (largest magnitude that counts as 0) are allowed. Adds the findings and
/// one TensorReport per output. The verdict becomes nonconformant_structural if a value differs,
/// and vacuous if no element was compared. Otherwise a verdict that is still tool_failure becomes
/// conforms.
void judge_exact(const std::vector<ExactOutput>& outputs, const spec::Numerics& numerics,
                 CaseReport& report);

}  // namespace assay::conformance
