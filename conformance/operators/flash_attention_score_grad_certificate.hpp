#pragma once

#include "grounds.hpp"
#include "operators/flash_attention_score_grad_bound.hpp"

namespace assay::conformance::flash {

/// All rows of a small case in 113 bits, else a query row and a key of the first head of every batch entry, of 16 entries at
/// most. They agree with the double engine within its proven radius.
/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::flash
