#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// Which rows are judged, by their number in Extents::row, ascending: of input_grad, and of
/// weight_grad, whose rows `weight_extents` numbers.
struct JudgedRows {
  std::vector<std::int64_t> input, weight;
};

/// Reference, tolerances and moments of input_grad and weight_grad; the derivation is in
/// conformance/README.md.
/// Cost: a multiply-add a covering window and channel of a judged row of input_grad, one a window
///       and channel of a judged element of weight_grad, in double, on all cores; about ten times
///       that where products are staged.
std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const JudgedRows& judged);

/// The same, equal in every bit; a tensor of more than four parts is made part by part, which needs
/// `dense` and `arithmetic` as long as the expectation is looked at.
std::vector<Expectation> expectations_in_parts(const Dense& dense, const Arithmetic& arithmetic,
                                               const JudgedRows& judged);

}  // namespace assay::conformance::compress
