#include <algorithm>

#include "operators/nsa_selected_attention_grad/traits.hpp"
#include "selection/cost.hpp"

namespace assay::conformance::selection {

using Op = spec::NsaSelectedAttentionGrad;

double Traits<Op>::memory(const Problem& p) {
  const double query = elements(query_extents(p)), key = elements(key_extents(p)),
               value = elements(value_extents(p)), out = elements(attention_out_extents(p));
  const auto rows = static_cast<double>(query_extents(p).rows());
  const auto width = static_cast<double>(size_of(p.dtype));
  constexpr double borrowed = 2, runs_and_untouched = 3, of_double = 8, of_four = 4;
  constexpr double element_list = 9;  // of the output whose storage is being checked
  return (query + key + value + 2 * out) * (borrowed * width + of_double) +
         (query + key + value) * runs_and_untouched * width +
         std::max({query, key, value}) * element_list +
         rows * 2 * (spec::statistics_replicas * borrowed * of_four + of_double) +
         elements(topk_extents(p)) * (borrowed * of_four + 2 * of_double) +
         borrowed * mask_bytes(p);
}

}  // namespace assay::conformance::selection
