#pragma once

#include <cstdint>

namespace assay::bench {

/// One key head and its query heads in fp32, row-major; selected_avx512 and selected_avx2 write the
/// gradients. The rows of query are ordered by token, then by head.
struct ComposedSelection {
  std::int64_t tokens, group, keys, dim, dim_v, block, count;
  float scale;
  bool causal;  ///< key j is unmasked for token i if j <= i
  const float *query, *key, *value, *dy, *attention_out;  ///< (rows, channels)
  const float *softmax_max, *softmax_sum;                 ///< (tokens * group)
  const std::int32_t* lists;                              ///< (tokens, count)
  float *dq, *dk, *dv;
};

// Computes the gradient of one key head, as a user would write it. For each token, gathers the
// listed keys and values into matrices, multiplies whole matrices with Eigen, and scatters the
// gradients of the keys. There is one such function for each instruction set.
[[gnu::visibility("default")]] void selected_avx512(const ComposedSelection& head);
[[gnu::visibility("default")]] void selected_avx2(const ComposedSelection& head);
[[gnu::visibility("default")]] void selected_portable(const ComposedSelection& head);

}  // namespace assay::bench
