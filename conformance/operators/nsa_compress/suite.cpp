#include "compression/suite.hpp"

#include "operators/nsa_compress/basis.hpp"
#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {

template struct compression::RelationPartsOf<spec::NsaCompress>;
template struct compression::SuiteOf<spec::NsaCompress>;
template std::vector<RelationText> relation_texts<spec::NsaCompress>();
template std::vector<std::int64_t> places_of(const Case<spec::NsaCompress>&, const Expected&);
template std::optional<spec::Extents> extents_of_input<spec::NsaCompress>(
    const spec::NsaCompress::Problem&, std::string_view);

}  // namespace assay::conformance
