#pragma once

#include <cstdint>

namespace assay::bench {

/// Inputs and outputs of one attention head in fp32, row-major. composed_avx512 and composed_avx2
/// write the gradients.
struct ComposedHead {
  std::int64_t seq_q, seq_kv, dim;
  float scale;
  bool causal;                                           ///< query i sees key j if j <= i
  const float *query, *key, *value, *dy, *attention_in;  ///< (seq, dim)
  const float *softmax_max, *softmax_sum;                ///< (seq_q)
  float *dq, *dk, *dv;
};

// Computes the gradient of one head with whole-matrix products of Eigen, as a user would write it:
// full score and probability matrices, no blocks. Each instruction set has its own library;
// otherwise the linker would merge Eigen's functions of different instruction sets, which have
// equal names.
[[gnu::visibility("default")]] void composed_avx512(const ComposedHead& head);
[[gnu::visibility("default")]] void composed_avx2(const ComposedHead& head);
[[gnu::visibility("default")]] void composed_portable(const ComposedHead& head);

}  // namespace assay::bench
