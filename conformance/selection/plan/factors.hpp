#pragma once

#include <cstdint>
#include <string_view>

#include "attention/plan/choices.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"
#include "selection/traits.hpp"

namespace assay::conformance::selection {

/// Head sizes of query and value.
enum class HeadDims : std::uint8_t { wide, mixed, narrow, wide_value };
/// Query heads per key head: 1; 2 to 14; 15 to 17; 18 to 32.
enum class Group : std::uint8_t { one, few, sixteen, most };
/// Number of key heads: one; more.
enum class KeyHeads : std::uint8_t { one, several };
/// Blocks per list: 1, 2, 3 to 8, 9 to 15, 16, 17 to 31, 32.
enum class BlockCount : std::uint8_t { one, two, few, some, sixteen, many, most };
/// Queries of the first sequence: one; a number close to a block edge; fewer than its keys; as many
/// as its keys; more than its keys.
enum class Queries : std::uint8_t { one, edge, shorter, equal, longer };
/// Keys of the first sequence: as many as a query lists; one block more; several blocks more.
enum class Keys : std::uint8_t { listed, one_more, more };
/// Sequences: one; several of equal lengths; of different lengths; 16 and more.
enum class Batch : std::uint8_t { single, alike, unequal, many };
inline constexpr std::int64_t many_sequences = 16;
using attention::Scale;

/// A choice: one value for each factor. The pairwise cover and the random part of a plan consist of
/// choices, and a case is drawn for each of them.
struct Categories {
  spec::Product product;
  spec::DType dtype;
  std::int64_t sparse_mode;
  spec::SelectedMask mask;
  HeadDims head_dims;
  Group group;
  KeyHeads heads;
  std::int64_t block_size;
  BlockCount block_count;
  std::string_view lists;
  Queries queries;
  Keys keys;
  Batch batch;
  spec::Striding inputs, outputs;
  spec::DType mask_dtype;
  Track track;
  std::string_view profile;
  Scale scale;
};

/// Returns the table of all factors.
template <class Op>
const Factors<Op, Categories>& factors();

/// Returns all factors with their exclusions. Built once.
template <class Op>
const ChoiceSpace& choice_space();

/// Returns the rules by which cases are drawn from the factors.
template <class Op>
const Drawn<Op, Categories>& drawn();

}  // namespace assay::conformance::selection
