#pragma once

#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::conformance {

/// A stored case without tensors: replay line and fields.
template <class Op>
fixtures::CaseRecord recipe(const Case<Op>& c);

/// Copies of the tensors, inputs or outputs of an operator, by their documented names.
template <class Tensors>
std::vector<fixtures::NamedTensor> named_tensors(const Tensors& tensors);

/// Outputs of the case that hold the elements of `tensors`, as if a kernel had written them.
/// Errors: std::invalid_argument naming the tensor that is absent, unknown, or of another shape or
/// dtype.
template <class Op>
typename Op::Outputs outputs_from(const Case<Op>& c,
                                  const std::vector<fixtures::NamedTensor>& tensors);

/// The reference as the final cast of kernels of these numerics rounds it: (rows, dim) of `dtype`.
/// Where a cast may give either of two numbers: see `round_dyadic`.
spec::Tensor rounded_rows(const Expected& expected, spec::DType dtype,
                          const spec::Numerics& numerics);

/// References of outputs of type `dtype` as they are stored.
std::vector<fixtures::ExpectedTensor> stored_expected(std::vector<Expected> expected,
                                                      spec::DType dtype,
                                                      const spec::Numerics& numerics,
                                                      const std::string& profile_name);

}  // namespace assay::conformance
