#include <algorithm>
#include <iterator>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<MutantOf<spec::NsaCompressGrad>> mutants() {
  std::vector<compress::Mutant> all;
  for (const auto family :
       {compress::healthy_kernels, compress::window_mutants, compress::sum_mutants,
        compress::output_mutants, compress::stride_mutants, compress::argument_mutants,
        compress::public_faults}) {
    std::vector<compress::Mutant> members = family();
    std::ranges::move(members, std::back_inserter(all));
  }
  std::ranges::stable_partition(all, &compress::Mutant::healthy);
  return all;
}

}  // namespace assay::mutants
