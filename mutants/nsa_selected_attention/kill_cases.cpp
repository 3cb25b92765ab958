#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::NsaSelectedAttention>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::NsaSelectedAttention>(2e6);
}

}  // namespace assay::mutants
