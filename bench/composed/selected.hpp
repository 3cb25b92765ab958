#pragma once

#include <cstdint>

namespace assay::bench {

/// One key head and its query heads in fp32, row-major; the gradients are written. Rows of query
/// are token by token, in it head by head.
struct ComposedSelection {
  std::int64_t tokens, group, keys, dim, dim_v, block, count;
  float scale;
  bool causal;  ///< key j is kept for token i where j <= i
  const float *query, *key, *value, *dy, *attention_out;  ///< (rows, channels)
  const float *softmax_max, *softmax_sum;                 ///< (tokens * group)
  const std::int32_t* lists;                              ///< (tokens, count)
  float *dq, *dk, *dv;
};

// The gradient of one key head as a user would write it: token by token, keys and values of its
// list gathered into matrices, whole products of Eigen, gradients of the keys scattered. Built as
// those of composed.hpp.
[[gnu::visibility("default")]] void selected_avx512(const ComposedSelection& head);
[[gnu::visibility("default")]] void selected_avx2(const ComposedSelection& head);
[[gnu::visibility("default")]] void selected_portable(const ComposedSelection& head);

}  // namespace assay::bench
