#include "assay/conformance/operators/flash_attention_score.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::FlashAttentionScore>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::FlashAttentionScore>(3e5);
}

}  // namespace assay::mutants
