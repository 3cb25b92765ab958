// Calls aclnnNsaSelectedAttention: every query attends to the key blocks in its list, here to the
// blocks 0 and 3 of four.
//
// With query = 0 the keys of the listed blocks have equal weight. The maximum of the scores is 0,
// and the sum of the exponentials is 2 * block size. The value of a key is the index of its block,
// so the output is 1.5.
#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t queries = 8, block_size = 16, blocks = 4, listed = 2, dim = 192,
                           dim_v = 128;
    const std::vector<std::int64_t> key_shape = {blocks * block_size, 1, dim},
                                    value_shape = {blocks * block_size, 1, dim_v};

    const example::Tensor query({queries, 1, dim}, ACL_FLOAT16, 0.0f),
        key(key_shape, ACL_FLOAT16, 1.0f),
        value(value_shape, ACL_FLOAT16,
              [](std::int64_t k) { return static_cast<float>(k / dim_v / block_size); }),
        indices({queries, 1, listed}, ACL_INT32,
                [](std::int64_t k) { return k % 2 == 0 ? 0.0f : 3.0f; });
    const example::Array query_ends({queries}), key_ends({blocks * block_size});
    const example::Forward out({queries, 1, 8}, {queries, 1, dim_v}, ACL_FLOAT16);
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnNsaSelectedAttentionGetWorkspaceSize(
              query.get(), key.get(), value.get(), indices.get(), nullptr, query_ends.get(),
              key_ends.get(), 0.0625, 1, layout, 0, block_size, listed, out.maximum.get(),
              out.sum.get(), out.attention.get(), size, executor);
        },
        aclnnNsaSelectedAttention);

    out.compare(
        results, example::zero,
        [](std::int64_t) { return static_cast<float>(listed * block_size); },
        [](std::int64_t) { return 1.5f; });
  });
}
