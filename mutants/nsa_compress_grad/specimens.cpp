#include <algorithm>
#include <iterator>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<SpecimenOf<spec::NsaCompressGrad>> specimens() {
  std::vector<compress::Specimen> all;
  for (const auto family :
       {compress::healthy_kernels, compress::window_mutants, compress::sum_mutants,
        compress::output_mutants, compress::argument_specimens}) {
    std::vector<compress::Specimen> members = family();
    std::ranges::move(members, std::back_inserter(all));
  }
  std::ranges::stable_partition(all, &compress::Specimen::healthy);
  return all;
}

}  // namespace assay::mutants
