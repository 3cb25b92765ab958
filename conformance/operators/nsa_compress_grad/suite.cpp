#include "compression/suite.hpp"

#include "operators/nsa_compress_grad/traits.hpp"

namespace assay::conformance {

template struct compression::RelationPartsOf<spec::NsaCompressGrad>;
template struct compression::SuiteOf<spec::NsaCompressGrad>;

}  // namespace assay::conformance
