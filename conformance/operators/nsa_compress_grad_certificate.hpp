#pragma once

#include "grounds.hpp"
#include "operators/nsa_compress_grad_bound.hpp"

namespace assay::conformance::compress {

/// All judged rows of a small case in 113 bits; else a row of input_grad of the first head of 16 sequences at most, and a
/// few elements of weight_grad. They agree with the double engine within its proven radius.
/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::compress
