#include "assay/conformance/operators/nsa_compress.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::NsaCompress>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::NsaCompress>(3e5);
}

}  // namespace assay::mutants
