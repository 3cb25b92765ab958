#include "compression/suite.hpp"

#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {

template struct compression::RelationPartsOf<spec::NsaCompress>;
template struct compression::SuiteOf<spec::NsaCompress>;

}  // namespace assay::conformance
