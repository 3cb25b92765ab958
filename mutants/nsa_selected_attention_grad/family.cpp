#include <algorithm>
#include <iterator>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<MutantOf<spec::NsaSelectedAttentionGrad>> mutants() {
  using selected::Mutant;
  std::vector<Mutant> all;
  for (std::vector<Mutant> (*family)() :
       {selected::healthy_kernels, selected::list_mutants, selected::mask_mutants,
        selected::row_mutants, selected::output_mutants, selected::stride_mutants,
        selected::argument_mutants, selected::public_faults})
    std::ranges::move(family(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants
