#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/tensor.hpp"
#include "bilinear/form.hpp"

namespace assay::conformance::bilinear {

/// Returns the index of a packed tensor (tokens, heads, channels), or of one without channels.
/// Errors: std::invalid_argument for a shape that is not that of `extents`.
spec::HeadIndex index_of(const spec::Tensor& tensor, const spec::Extents& extents);

/// Returns some rows of such a tensor.
std::vector<double> rows_of(const spec::Tensor& tensor, const spec::Extents& extents,
                            std::span<const std::int64_t> rows);

/// A form, with dense copies of its operands in double.
class Operands {
 public:
  /// `tensors`: the inputs, in their order.
  Operands(Form form, const std::vector<const spec::Tensor*>& tensors);

  const Form& form() const { return form_; }
  const double* row(std::size_t operand, std::int64_t number) const {
    return values_[operand].data() + number * form_.operands[operand].extents.dim;
  }
  /// Returns the rows of one head, sequence after sequence.
  std::vector<float> head(std::size_t operand, std::int64_t n) const;

 private:
  Form form_;
  std::vector<std::vector<double>> values_;
};

}  // namespace assay::conformance::bilinear
