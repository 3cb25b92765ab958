#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::SparseFlashAttentionGrad>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::SparseFlashAttentionGrad>(3e6);
}

}  // namespace assay::mutants
