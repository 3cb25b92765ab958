#pragma once

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

/// Estimates the memory of a numerically judged case, in bytes.
double memory_estimate(const Case<spec::NsaCompressGrad>& c);

/// Returns the element count of the largest tensor of a problem. In double: the product may exceed
/// 64 bits.
double largest_tensor(const spec::NsaCompressGrad::Problem& problem);

}  // namespace assay::conformance
