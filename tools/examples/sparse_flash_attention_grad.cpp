// Calls aclnnSparseFlashAttentionGrad: every query lists the four blocks of keys, but not in
// ascending order. The argument `value` is null, so the keys are also the values, and dKeyOut is
// the sum of both gradients.
//
// With query = 0 the listed keys have equal weight: P = 1 / 32. Let dOut = 1, let a key be the
// index of its block, and let the attention output be the mean 1.5. Then dQuery = scale * 512 *
// (variance of {0, 1, 2, 3}) = scale * 640. Because query = 0, the scores contribute nothing to
// dKey. The values contribute P times the number of queries and heads.
#include "aclnnop/aclnn_sparse_flash_attention_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t queries = 8, heads = 2, block_size = 8, blocks = 4, dim = 512,
                           entries = 1024;
    constexpr float scale = 0.0625f;
    const std::vector<std::int64_t> query_shape = {1, queries, heads, dim},
                                    key_shape = {1, blocks * block_size, 1, dim},
                                    statistics = {1, 1, queries, heads};

    const example::Tensor query(query_shape, ACL_FLOAT16, 0.0f),
        key(key_shape, ACL_FLOAT16,
            [](std::int64_t k) { return static_cast<float>(k / dim / block_size); }),
        attention(query_shape, ACL_FLOAT16, 1.5f), d_out(query_shape, ACL_FLOAT16, 1.0f),
        maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, static_cast<float>(blocks * block_size)),
        indices({1, queries, 1, entries}, ACL_INT32,
                [](std::int64_t k) {
                  const std::int64_t slot = k % entries;
                  return slot < blocks ? static_cast<float>(slot ^ 2) : -1.0f;
                }),
        d_query(query_shape, ACL_FLOAT16, -1.0f), d_key(key_shape, ACL_FLOAT16, -1.0f);
    char layout[] = "BSND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnSparseFlashAttentionGradGetWorkspaceSize(
              query.get(), key.get(), nullptr, indices.get(), d_out.get(), attention.get(),
              maximum.get(), sum.get(), nullptr, nullptr, nullptr, nullptr, scale, block_size,
              layout, 0, 2147483647, 2147483647, false, d_query.get(), d_key.get(), nullptr,
              nullptr, nullptr, size, executor);
        },
        aclnnSparseFlashAttentionGrad);

    results.compare("dQuery", d_query, [&](std::int64_t) { return scale * 640; });
    results.compare("dKey", d_key, [&](std::int64_t) {
      return static_cast<float>(queries * heads) / (blocks * block_size);
    });
  });
}
