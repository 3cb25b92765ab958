#include <gtest/gtest.h>

#include "allocation_counter.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay {
namespace {

using spec::NsaSelectedAttentionGrad;

/// One query that lists `blocks` blocks of 16 keys.
std::int64_t allocations_of_a_row(std::int64_t blocks) {
  NsaSelectedAttentionGrad::Problem p{.heads_q = 1, .heads_kv = 1, .seq_q = 1};
  p.selected_block_size = 16;
  p.selected_block_count = blocks;
  p.seq_kv = 16 * blocks;
  const auto ones = [](std::int64_t count) {
    return std::vector<double>(static_cast<std::size_t>(count), 1.0);
  };
  std::vector<std::int64_t> list;
  for (std::int64_t block = 0; block < blocks; ++block) list.push_back(block);
  const reference::NsaSelectedAttention<double> attention(
      p, {.query = ones(p.head_dim),
          .key = ones(p.seq_kv * p.head_dim),
          .value = ones(p.seq_kv * p.head_dim_v),
          .attention_out_grad = {},
          .softmax_max = {},
          .softmax_sum = {},
          .attention_out = {},
          .topk_indices = list});
  reference::SelectedForward<double> row;
  const std::int64_t before = testing::allocations();
  attention.append_row(0, 0, 0, row);
  const std::int64_t taken = testing::allocations() - before;
  EXPECT_EQ(row.softmax_sum.front(), static_cast<double>(p.seq_kv));
  return taken;
}

/// Vectors that grow allocate when they double; nothing is allocated for a key.
TEST(Memory, OfTheForwardOfSelectedBlocksIsNotTakenKeyByKey) {
  EXPECT_LE(allocations_of_a_row(16), allocations_of_a_row(4) + 8);
}

}  // namespace
}  // namespace assay
