#include "assay/spec/contradiction.hpp"
#include "operators/contradiction_lists.hpp"

namespace assay::spec {

std::span<const Contradiction> contradictions() {
  static const std::vector<Contradiction> all = [] {
    std::vector<Contradiction> joined;
    for (const auto list :
         {detail::flash_contradictions, detail::flash_open_points, detail::forward_contradictions,
          detail::selected_contradictions, detail::nsa_open_points, detail::compress_contradictions,
          detail::nsa_compress_contradictions, detail::nsa_selected_attention_contradictions,
          detail::sparse_flash_contradictions}) {
      const std::vector<Contradiction> of_list = list();
      joined.insert(joined.end(), of_list.begin(), of_list.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace assay::spec
