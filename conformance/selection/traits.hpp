#pragma once

#include <cstdint>
#include <string_view>

#include "assay/conformance/selection/suite.hpp"

/// Traits: the properties in which the forward and the gradient of block-selected attention differ.
namespace assay::conformance::selection {

/// Ids of the requirements that limit the fields of a problem.
struct Requirements {
  std::string_view batch, heads_q, heads_kv, length, head_dim, block_size, block_count, sparse_mode;
};

/// Every operator must provide a specialisation of Traits in its folder, with these members:
///
///   static constexpr Requirements requirements;
///   static constexpr std::int64_t most_sequences;
///   /// Number of rounds of random cases; this number covers 84 % of all triples of values.
///   static constexpr std::int64_t random_rounds;
///   /// Multiply-adds per list entry, to be multiplied by head_dim and by head_dim_v.
///   static constexpr std::int64_t products_of_head, products_of_value;
///   static constexpr bool may_widen_value;  ///< value may have a larger head size than query
///   static constexpr bool means_mode_without_mask;  ///< mode 2 without a mask is defined
///   static constexpr bool may_list_all_keys;        ///< no document forbids this
///   static double memory(const Problem&);       ///< bytes that a numerically judged case needs
///   static Named<std::string_view> profiles();  ///< the input distributions of random cases
///   static std::vector<Exclusion> fruitless();  ///< combinations that test nothing
template <class Op>
struct Traits;

}  // namespace assay::conformance::selection
