#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

/// Kernels of NsaSelectedAttentionGrad as the tests need them: written row by row from the
/// document.
namespace assay::conformance::testing::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// In which order the contributions to a row of dk and dv, and the places of a list, are added.
/// by_query: one chain over heads and queries; backwards: the other way round; by_slot: place by
/// place over all queries; partial: a sum for every query head, added at the end.
enum class Order : std::uint8_t { by_query, backwards, by_slot, partial };

/// What a kernel gets wrong.
enum class Fault : std::uint8_t {
  none,
  future_seen,          ///< no mask inside the block at the query's position
  whole_blocks_hidden,  ///< the block at the query's position is not seen at all
  diagonal_hidden,      ///< a query does not see the key at its own position
  mask_ignored,         ///< mode 2 hides nothing
  mask_in_mode_0,       ///< the triangle applies in mode 0
  counts_once,          ///< a block that is listed twice counts once
  first_head_lists,     ///< every key head uses the lists of the first
  first_block_twice,    ///< the block of the first place counts twice
  last_place_dropped,   ///< the last place of a list is not read
  blocks_from_start,    ///< blocks count from the first token of all sequences
  row_term_missing,
  row_term_of_first_head,
  dk_unscaled,
  dv_of_group_head,            ///< of a group only the last head adds to dv
  statistics_recomputed_late,  ///< softmax_sum of the row above
  softmax_sum_ignored,
  stage_truncates,
  cast_truncates,
  unlisted_unwritten,    ///< keys that no list names keep what was there
  output_not_cleared,    ///< the gradients add to what was there
  workspace_not_zeroed,  ///< the sums of dk start at 1/2
  strides_ignored,       ///< of key
  scale_one_percent,
};

struct Plan {
  spec::Rounding rounding = spec::Rounding::rne;  ///< of the staging and of the final cast
  bool stages = true;  ///< P and dS are rounded to the operands' type before they are multiplied
  Order order = Order::by_query;
  Fault fault = Fault::none;
};

std::unique_ptr<spec::Implementation<Op>> kernel(const Plan& plan);

}  // namespace assay::conformance::testing::selected
