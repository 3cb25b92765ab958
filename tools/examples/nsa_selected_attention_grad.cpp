// Calls aclnnNsaSelectedAttentionGrad: every query attends to the key blocks in its list, here to
// the blocks 0 and 3 of four.
//
// With query = 0 the keys of the listed blocks have equal weight: P = 1 / (2 * block size). Let dy
// = 1, let key and value be the index of their block, and let the attention output be the mean 1.5.
// With the head size Dv of value, dq is then scale * Dv * (variance of {0, 3}) = scale * Dv * 2.25,
// and dk = 0. dv is the number of queries times P in the listed blocks, and 0 in the others.
#include "aclnnop/aclnn_nsa_selected_attention_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t queries = 8, block_size = 16, blocks = 4, listed = 2, dim = 192,
                           dim_v = 128;
    constexpr float scale = 0.0625f;
    const std::vector<std::int64_t> query_shape = {queries, 1, dim},
                                    out_shape = {queries, 1, dim_v},
                                    key_shape = {blocks * block_size, 1, dim},
                                    value_shape = {blocks * block_size, 1, dim_v},
                                    statistics = {queries, 1, 8};
    const auto block_of = [](std::int64_t width) {
      return [width](std::int64_t k) { return static_cast<float>(k / width / block_size); };
    };

    const example::Tensor query(query_shape, ACL_FLOAT16, 0.0f),
        key(key_shape, ACL_FLOAT16, block_of(dim)),
        value(value_shape, ACL_FLOAT16, block_of(dim_v)), attention(out_shape, ACL_FLOAT16, 1.5f),
        dy(out_shape, ACL_FLOAT16, 1.0f), maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, static_cast<float>(listed * block_size)),
        indices({queries, 1, listed}, ACL_INT32,
                [](std::int64_t k) { return k % 2 == 0 ? 0.0f : 3.0f; }),
        dq(query_shape, ACL_FLOAT16, -1.0f), dk(key_shape, ACL_FLOAT16, -1.0f),
        dv(value_shape, ACL_FLOAT16, -1.0f);
    const example::Array query_ends({queries}), key_ends({blocks * block_size});
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnNsaSelectedAttentionGradGetWorkspaceSize(
              query.get(), key.get(), value.get(), attention.get(), dy.get(), maximum.get(),
              sum.get(), indices.get(), query_ends.get(), key_ends.get(), nullptr, scale,
              block_size, listed, 1, layout, 0, dq.get(), dk.get(), dv.get(), size, executor);
        },
        aclnnNsaSelectedAttentionGrad);

    results.compare("dq", dq, [&](std::int64_t) { return scale * dim_v * 2.25f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare("dv", dv, [&](std::int64_t k) {
      const float block = block_of(dim_v)(k);
      return block == 0 || block == 3 ? static_cast<float>(queries) / (listed * block_size) : 0;
    });
  });
}
