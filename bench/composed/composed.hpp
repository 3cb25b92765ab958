#pragma once

#include <cstdint>

namespace assay::bench {

/// One attention head in fp32, row-major; the gradients are written.
struct ComposedHead {
  std::int64_t seq_q, seq_kv, dim;
  float scale;
  bool causal;                                           ///< key j is kept for query i where j <= i
  const float *query, *key, *value, *dy, *attention_in;  ///< (seq, dim)
  const float *softmax_max, *softmax_sum;                ///< (seq_q)
  float *dq, *dk, *dv;
};

// The gradient of one head composed of whole-matrix products of Eigen, as a user would write it:
// scores and probabilities in full, no blocks. Each is built for its instruction set in a library
// of its own, because Eigen's functions of different instruction sets would otherwise be merged by
// name.
[[gnu::visibility("default")]] void composed_avx512(const ComposedHead& head);
[[gnu::visibility("default")]] void composed_avx2(const ComposedHead& head);
[[gnu::visibility("default")]] void composed_portable(const ComposedHead& head);

}  // namespace assay::bench
