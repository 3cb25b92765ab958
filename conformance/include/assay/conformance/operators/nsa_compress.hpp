#pragma once

#include "assay/conformance/compression/suite.hpp"
#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::conformance {

/// Compression of blocks.
template <>
struct Suite<spec::NsaCompress> : compression::SuiteOf<spec::NsaCompress> {};

}  // namespace assay::conformance
