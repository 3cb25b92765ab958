#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/bilinear.hpp"
#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "bilinear/form.hpp"

namespace assay::conformance::bilinear {

/// The properties of a case that determine its exact inputs (inputs for which every sum is exact).
struct ExactQuestion {
  const Form& form;
  spec::DType io;  ///< type of all tensors
  Track track;
  std::uint64_t seed;
  std::vector<std::vector<std::int64_t>> judged;  ///< rows of every output
};

/// One input of an exact case: integers times 2^exponent, (rows, dim) in the order of Extents::row.
struct ExactOperand {
  std::vector<std::int32_t> integers;
  int exponent;
};

struct ExactAnswer {
  std::vector<ExactOperand> operands;
  std::vector<ExactSums> outputs;
};

/// Equation E47: generates random inputs for which all partial sums are exact in a kernel with
/// these numerics (its declared arithmetic), in any order of summation. Errors: NoExactCase with
/// the reason.
ExactAnswer exact_answer(const ExactQuestion& question, const spec::Numerics& numerics,
                         ExactPart part);

/// Returns the elements of an input as double.
std::vector<double> values_of(const ExactOperand& operand);

}  // namespace assay::conformance::bilinear
