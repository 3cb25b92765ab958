#include <algorithm>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<MutantOf<spec::NsaCompressGrad>> mutants() {
  using namespace compress::grad;
  auto all =
      compress::concatenated({healthy_kernels(), window_mutants(), sum_mutants(), output_mutants(),
                              stride_mutants(), argument_mutants(), public_faults()});
  std::ranges::stable_partition(all, &MutantOf<Op>::healthy);
  return all;
}

}  // namespace assay::mutants
