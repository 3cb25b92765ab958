#include "compression/kill_cases.hpp"

#include "assay/conformance/operators/nsa_compress_grad.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::NsaCompressGrad>> kill_cases() {
  return compression::kill_cases<spec::NsaCompressGrad>();
}

}  // namespace assay::mutants
