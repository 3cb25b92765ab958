#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/exact.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::exact {

/// The exact outputs of a forward pass. Contains only rows in which all softmax weights are 2^-k or
/// 0.
struct ForwardAnswer {
  std::vector<std::int64_t> rows;  ///< numbers of Extents::row, ascending
  std::vector<Dyadic> softmax_max, softmax_sum, attention_out;
};

/// Computes the given query rows (ascending row numbers) from the inputs of an exact case (every
/// correct kernel computes the same bits). Leaves out a row if its largest score does not occur 1,
/// 2, 4 or 8 times. Also leaves out a row if another score is so close that its weight is not 0 in
/// fp32. Errors: NoExactCase if no row is left.
ForwardAnswer forward_answer(const attention::Dense& dense, const std::vector<std::int64_t>& rows);

/// Returns the exact outputs, each with its name, rows and channels.
std::vector<ExactTensor> exact_tensors(const ForwardAnswer& answer, std::int64_t head_dim_v);

}  // namespace assay::conformance::exact
