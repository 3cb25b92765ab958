#include <algorithm>
#include <iterator>

#include "assay/mutants/mutant.hpp"
#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {

template <>
std::vector<Mutant> mutants() {
  std::vector<Mutant> all;
  for (std::vector<Mutant> (*family)() : {healthy_kernels,
                                          healthy_statistics_orders,
                                          healthy_sinks,
                                          mask_mutants,
                                          head_and_scale_mutants,
                                          row_mutants,
                                          tile_mutants,
                                          rounding_mutants,
                                          tensor_mutants,
                                          stride_mutants,
                                          output_mutants,
                                          sequence_mutants,
                                          statistics_order_mutants,
                                          sparse_mutants,
                                          dropout_mutants,
                                          pse_mutants,
                                          rope_mutants,
                                          forward_mutants,
                                          conduct_mutants,
                                          argument_mutants,
                                          public_faults,
                                          sink_mutants}) {
    std::vector<Mutant> members = family();
    std::ranges::move(members, std::back_inserter(all));
  }
  return all;
}

}  // namespace assay::mutants
