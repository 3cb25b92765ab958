#include "compression/kill_cases.hpp"

#include "assay/conformance/operators/nsa_compress.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::NsaCompress>> kill_cases() {
  return compression::kill_cases<spec::NsaCompress>();
}

}  // namespace assay::mutants
