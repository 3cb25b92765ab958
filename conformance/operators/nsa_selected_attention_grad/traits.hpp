#pragma once

#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "selection/plan/factors.hpp"
#include "selection/traits.hpp"

namespace assay::conformance::selection {

template <>
struct Traits<spec::NsaSelectedAttentionGrad> {
  using Op = spec::NsaSelectedAttentionGrad;

  static constexpr Requirements requirements = {.batch = "NSAS-C24",
                                                .heads_q = "NSAS-C25",
                                                .heads_kv = "NSAS-C26",
                                                .length = "NSAS-C28",
                                                .head_dim = "NSAS-C21",
                                                .block_size = "NSAS-C34",
                                                .block_count = "NSAS-C35",
                                                .sparse_mode = "NSAS-C33"};
  static constexpr std::int64_t most_sequences = 2 * 1024 * 1024;
  static constexpr std::int64_t random_rounds = 1;
  static constexpr std::int64_t products_of_head = 3, products_of_value = 2;
  static constexpr bool may_widen_value = true, means_mode_without_mask = false,
                        may_list_all_keys = true;

  /// Estimates the memory of a case (bytes): the inputs, their copy that is shared with the kernel,
  /// a copy in double of every input that is multiplied, the results of the forward, and three sets
  /// of outputs.
  static double memory(const Op::Problem& problem);
  static Named<std::string_view> profiles();
  static std::vector<Exclusion> fruitless();
};

}  // namespace assay::conformance::selection
