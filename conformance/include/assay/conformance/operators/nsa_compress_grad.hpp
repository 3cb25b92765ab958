#pragma once

#include "assay/conformance/compression/suite.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// The gradient of an operator that compresses blocks of tokens.
template <>
struct Suite<spec::NsaCompressGrad> : compression::SuiteOf<spec::NsaCompressGrad> {};

}  // namespace assay::conformance
