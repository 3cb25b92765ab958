#pragma once

#include "assay/conformance/compression/suite.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// The gradient of a compression of blocks.
template <>
struct Suite<spec::NsaCompressGrad> : compression::SuiteOf<spec::NsaCompressGrad> {};

}  // namespace assay::conformance
