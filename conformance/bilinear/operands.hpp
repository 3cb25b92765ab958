#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"
#include "bilinear/form.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance::bilinear {

/// Returns an object that finds the elements of a packed tensor (tokens, heads, channels). The
/// tensor may have no channel dimension. Errors: std::invalid_argument if the shape does not match
/// `extents`.
spec::HeadIndex index_of(const spec::Tensor& tensor, const spec::Extents& extents);

/// Returns some rows of a packed tensor.
std::vector<double> rows_of(const spec::Tensor& tensor, const spec::Extents& extents,
                            std::span<const std::int64_t> rows);

/// These functions return a tensor with the shape, strides and type of `parameter`, between guards
/// (known bytes) as in `guarded_tensor`. The values are in the order of Extents::row, or come from
/// `filling`.
spec::Tensor tensor_of(const spec::Parameter& parameter, const spec::Extents& extents,
                       std::span<const double> values);
spec::Tensor filled_rows(const spec::Parameter& parameter, const spec::Extents& extents,
                         const Filling& filling);

/// The form of an operator (its inputs and sums of products), and copies of the inputs in double
/// without padding.
class Operands {
 public:
  /// `tensors`: the inputs, in their order.
  Operands(Form form, const std::vector<const spec::Tensor*>& tensors);

  const Form& form() const { return form_; }
  const double* row(std::size_t operand, std::int64_t number) const {
    return values_[operand].data() + number * form_.operands[operand].extents.dim;
  }
  const std::vector<double>& values(std::size_t operand) const { return values_[operand]; }
  /// Returns the rows of head n of an input, one sequence after the other.
  std::vector<float> head(std::size_t operand, std::int64_t n) const;

 private:
  Form form_;
  std::vector<std::vector<double>> values_;
};

}  // namespace assay::conformance::bilinear
