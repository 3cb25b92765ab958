#pragma once

#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::conformance {

/// A stored case with replay line and fields, but without tensors.
template <class Op>
fixtures::CaseRecord recipe(const Case<Op>& c);

/// Copies the tensors (inputs or outputs of an operator), with their documented names.
template <class Tensors>
std::vector<fixtures::NamedTensor> named_tensors(const Tensors& tensors);

/// Creates the outputs of the case from the elements of `tensors`, as if a kernel had written them.
/// Errors: std::invalid_argument with the tensor that is missing, unknown, or has the wrong shape
/// or dtype.
template <class Op>
typename Op::Outputs outputs_from(const Case<Op>& c,
                                  const std::vector<fixtures::NamedTensor>& tensors);

/// The reference, rounded by the final cast of a kernel with these numerics; shape (rows, dim),
/// type `dtype`. If the cast may return either of two numbers, `round_dyadic` selects one.
spec::Tensor rounded_rows(const Expected& expected, spec::DType dtype,
                          const spec::Numerics& numerics);

/// Converts references of outputs of type `dtype` to the form in which they are stored.
std::vector<fixtures::ExpectedTensor> stored_expected(std::vector<Expected> expected,
                                                      spec::DType dtype,
                                                      const spec::Numerics& numerics,
                                                      const std::string& profile_name);

}  // namespace assay::conformance
