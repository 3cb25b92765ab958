#pragma once

#include <cstdint>
#include <string_view>

#include "attention/plan/choices.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"
#include "selection/traits.hpp"

namespace assay::conformance::selection {

/// Classes of the head sizes of query and value.
enum class HeadDims : std::uint8_t { wide, mixed, narrow, wide_value };
/// Classes of the number of query heads per key head: 1; 2 to 14; 15 to 17; 18 to 32.
enum class Group : std::uint8_t { one, few, sixteen, most };
/// Classes of the number of key heads: one; more.
enum class KeyHeads : std::uint8_t { one, several };
/// Classes of the number of blocks in a list: 1; 2; 3 to 8; 9 to 15; 16; 17 to 31; 32.
enum class BlockCount : std::uint8_t { one, two, few, some, sixteen, many, most };
/// Classes of the number of queries of the first sequence: one; close to a block boundary; fewer
/// than its keys; equal to the number of its keys; more than its keys.
enum class Queries : std::uint8_t { one, edge, shorter, equal, longer };
/// Classes of the number of keys of the first sequence: equal to the number of listed keys; one
/// block more; several blocks more.
enum class Keys : std::uint8_t { listed, one_more, more };
/// Classes of sequences: one sequence; several with equal lengths; several with different lengths;
/// 16 and more.
enum class Batch : std::uint8_t { single, alike, unequal, many };
inline constexpr std::int64_t many_sequences = 16;
using attention::Scale;

/// The chosen value of each factor (property that the test plan varies). Test cases are made from
/// such choices: random cases, and cases that together contain every pair of values.
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

/// Returns the table of all factors (properties that the test plan varies).
template <class Op>
const Factors<Op, Categories>& factors();

/// Returns all factors (varied properties) and the combinations of values that are excluded. Built
/// once.
template <class Op>
const ChoiceSpace& choice_space();

/// Returns the rules by which random cases are made from the factors (varied properties).
template <class Op>
const Drawn<Op, Categories>& drawn();

}  // namespace assay::conformance::selection
