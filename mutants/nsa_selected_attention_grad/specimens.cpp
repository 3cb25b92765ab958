#include <algorithm>
#include <iterator>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<SpecimenOf<spec::NsaSelectedAttentionGrad>> specimens() {
  using selected::Specimen;
  std::vector<Specimen> all;
  for (std::vector<Specimen> (*family)() :
       {selected::healthy_kernels, selected::list_mutants, selected::mask_mutants,
        selected::row_mutants, selected::output_mutants, selected::argument_specimens})
    std::ranges::move(family(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants
