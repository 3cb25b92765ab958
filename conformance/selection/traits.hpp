#pragma once

#include <cstdint>
#include <string_view>

#include "assay/conformance/selection/suite.hpp"

/// How an operator of block-selected attention differs from the other one.
namespace assay::conformance::selection {

/// Ids of the requirements that limit fields.
struct Requirements {
  std::string_view batch, heads_q, heads_kv, length, head_dim, block_size, block_count, sparse_mode;
};

/// An operator must provide the following: a specialisation of Traits in its folder.
///
///   static constexpr Requirements requirements;
///   static constexpr std::int64_t most_sequences;
///   /// How often a plan draws random cases; with this count it holds 84 % of all triples.
///   static constexpr std::int64_t random_rounds;
///   /// Multiply-adds per entry of a list: times head_dim, and times head_dim_v.
///   static constexpr std::int64_t products_of_head, products_of_value;
///   static constexpr bool may_widen_value;  ///< value may have a larger head size than query
///   static constexpr bool means_mode_without_mask;  ///< mode 2 without a mask is defined
///   static constexpr bool may_list_all_keys;        ///< no document forbids this
///   static double memory(const Problem&);  ///< of a numerically judged case, in bytes
///   static Named<std::string_view> profiles();  ///< the profiles of drawn cases
///   static std::vector<Exclusion> fruitless();  ///< combinations of factors that test nothing
template <class Op>
struct Traits;

}  // namespace assay::conformance::selection
