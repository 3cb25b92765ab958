#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::NsaCompressGrad>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::NsaCompressGrad>(3e5);
}

}  // namespace assay::mutants
