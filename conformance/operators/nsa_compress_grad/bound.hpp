#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// The numbers of the judged rows, ascending, as in Extents::row. Rows of weight_grad are those of
/// `weight_extents`.
struct JudgedRows {
  std::vector<std::int64_t> input, weight;
};

/// Returns reference, tolerances and moments of input_grad and weight_grad; conformance/README.md
/// contains the derivation.
/// Cost, in double on all cores: for a judged row of input_grad, one multiply-add per channel and
/// window that covers it; for a judged element of weight_grad, one per channel and window. About
/// ten times as much if products are staged.
std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const JudgedRows& judged);

/// Returns the same expectations, equal in every bit. A tensor of more than four parts is computed
/// part by part, so `dense` and `arithmetic` must outlive the expectation.
std::vector<Expectation> expectations_in_parts(const Dense& dense, const Arithmetic& arithmetic,
                                               const JudgedRows& judged);

}  // namespace assay::conformance::compress
