#include "compression/suite.hpp"

#include "operators/nsa_compress_grad/basis.hpp"
#include "operators/nsa_compress_grad/traits.hpp"

namespace assay::conformance {

template struct compression::RelationPartsOf<spec::NsaCompressGrad>;
template struct compression::SuiteOf<spec::NsaCompressGrad>;
template std::vector<RelationText> relation_texts<spec::NsaCompressGrad>();
template std::vector<std::int64_t> places_of(const Case<spec::NsaCompressGrad>&, const Expected&);
template std::optional<spec::Extents> extents_of_input<spec::NsaCompressGrad>(
    const spec::NsaCompressGrad::Problem&, std::string_view);

}  // namespace assay::conformance
