#pragma once

#include <vector>

#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "selection/plan/factors.hpp"
#include "selection/traits.hpp"

namespace assay::conformance::selection {

template <>
struct Traits<spec::NsaSelectedAttention> {
  using Op = spec::NsaSelectedAttention;

  static constexpr Requirements requirements = {.batch = "NSSF-C10c",
                                                .heads_q = "NSSF-C10b",
                                                .heads_kv = "NSSF-C10b",
                                                .length = "NSSF-C10d",
                                                .head_dim = "NSSF-C06b",
                                                .block_size = "NSSF-C07",
                                                .block_count = "NSSF-C08",
                                                .sparse_mode = "NSSF-C12"};
  static constexpr std::int64_t most_sequences = 2 * 1024 * 1024;
  static constexpr std::int64_t random_rounds = 2;
  static constexpr std::int64_t products_of_head = 1, products_of_value = 1;
  static constexpr bool may_widen_value = false, means_mode_without_mask = true,
                        may_list_all_keys = false;

  /// Estimates the memory of a case (bytes): the inputs, their copy that is shared with the kernel,
  /// a copy in double of every input that is multiplied, and three sets of outputs.
  static double memory(const Op::Problem& problem);
  static Named<std::string_view> profiles();
  static std::vector<Exclusion> fruitless();
};

}  // namespace assay::conformance::selection
