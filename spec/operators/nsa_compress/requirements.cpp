#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::spec {

std::span<const Requirement<NsaCompress>> NsaCompress::requirements() { return {}; }

bool supports(NsaCompressEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(NsaCompressEntryPoint, Product product) {
  return product == Product::a2 ? "NSCF-C10" : "NSCF-C10a";
}

}  // namespace assay::spec
