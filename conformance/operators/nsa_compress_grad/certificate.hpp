#pragma once

#include "judge/basis.hpp"
#include "operators/nsa_compress_grad/bound.hpp"

namespace assay::conformance::compress {

/// All judged rows of a small case in 113 bits; else 16 rows of input_grad and of weight_grad at
/// most, of the first and the last head. They agree with the double engine within its proven
/// radius.
/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::compress
