// Calls aclnnFlashAttentionVarLenScoreV3 with a causal mask. The rotated parts (RoPE) of query and
// key are separate tensors.
//
// The other parts of query and key are 0, so every score is scale * Dr * (rotated query) * (rotated
// key), where Dr is the number of rotated channels. With a rotated query of 1 and rotated keys of
// 4, every score is scale * Dr * 4 = 8, which is also the maximum of every row. The i + 1 keys of
// query i have equal weight, so the sum of the exponentials is i + 1. With value(j) = j, the output
// is the mean i / 2.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 4, dim = 16, rope = 8;
    constexpr float scale = 0.25f;
    const std::vector<std::int64_t> shape = {seq, 1, dim}, rope_shape = {seq, 1, rope};
    const auto position = [](std::int64_t k) { return static_cast<float>(k / dim); };

    const example::Tensor query(shape, ACL_BF16, 0.0f), query_rope(rope_shape, ACL_BF16, 1.0f),
        key(shape, ACL_BF16, 0.0f), key_rope(rope_shape, ACL_BF16, 4.0f),
        value(shape, ACL_BF16, position), mask = example::compressed_mask();
    const example::Array lengths({seq});
    const example::Forward out({seq, 1, 8}, shape, ACL_BF16);
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize(
              query.get(), query_rope.get(), key.get(), key_rope.get(), value.get(), nullptr,
              nullptr, nullptr, mask.get(), nullptr, lengths.get(), lengths.get(), nullptr, nullptr,
              scale, 1.0, 65536, 65536, 1, layout, 0, 3, 1, out.maximum.get(), out.sum.get(),
              nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionVarLenScoreV3);

    // bf16 has 8 significant bits. The operator rounds P to bf16 before the products, and then
    // rounds the results once more.
    constexpr float bf16_steps = 0x1p-7f;
    out.compare(
        results, [](std::int64_t) { return scale * rope * 4; },
        [](std::int64_t i) { return static_cast<float>(i + 1); },
        [&](std::int64_t k) { return position(k) / 2; }, bf16_steps);
  });
}
