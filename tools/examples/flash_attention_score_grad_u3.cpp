// Calls aclnnFlashAttentionUnpaddingScoreGradV3 with a causal mask. The rotated parts (RoPE) of
// query and key are separate tensors.
//
// With query = 0 in both parts, query i gives equal weight to the keys 0 ... i: P = 1 / (i + 1).
// Let dy = 1, value(j) = j and key = 0. Let the rotated part of key j be j, and the attention
// output the mean i / 2. With the head size Dv of value, dq_rope is then scale * Dv * (variance of
// 0 ... i) = scale * Dv * i (i + 2) / 12. dq = dk = dk_rope = 0, and dv(j) is the sum of 1 / (i +
// 1) over the queries i >= j.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 4, dim = 16, rope = 8, side = 2048;
    constexpr float scale = 0.25f;
    const std::vector<std::int64_t> shape = {seq, 1, dim}, rope_shape = {seq, 1, rope},
                                    statistics = {seq, 1, 8};
    const auto position = [](std::int64_t k) { return static_cast<float>(k / dim); };
    const auto zero = [](std::int64_t) { return 0.0f; };

    const example::Tensor query(shape, ACL_BF16, 0.0f), query_rope(rope_shape, ACL_BF16, 0.0f),
        key(shape, ACL_BF16, 0.0f),
        key_rope(rope_shape, ACL_BF16, [](std::int64_t k) { return static_cast<float>(k / rope); }),
        value(shape, ACL_BF16, position), dy(shape, ACL_BF16, 1.0f),
        attention(shape, ACL_BF16, [&](std::int64_t k) { return position(k) / 2; }),
        mask({side, side}, ACL_UINT8,
             [](std::int64_t k) { return k % side > k / side ? 1.0f : 0.0f; }),
        maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, [](std::int64_t k) { return static_cast<float>(k / 8 + 1); }),
        dq(shape, ACL_BF16, -1.0f), dq_rope(rope_shape, ACL_BF16, -1.0f),
        dk(shape, ACL_BF16, -1.0f), dk_rope(rope_shape, ACL_BF16, -1.0f),
        dv(shape, ACL_BF16, -1.0f);
    const example::Array lengths({seq});
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize(
              query.get(), query_rope.get(), key.get(), key_rope.get(), value.get(), dy.get(),
              nullptr, nullptr, nullptr, mask.get(), maximum.get(), sum.get(), nullptr,
              attention.get(), nullptr, lengths.get(), lengths.get(), nullptr, nullptr, scale, 1.0,
              65536, 65536, 1, layout, 0, 3, 1, dq.get(), dq_rope.get(), dk.get(), dk_rope.get(),
              dv.get(), nullptr, size, executor);
        },
        aclnnFlashAttentionUnpaddingScoreGradV3);

    // bf16 has 8 significant bits. The operator rounds P and dS to bf16 before the products, and
    // then rounds the results once more.
    constexpr float bf16_steps = 0x1p-7f;
    results.compare("dq", dq, zero);
    results.compare(
        "dq_rope", dq_rope,
        [&](std::int64_t k) {
          const auto i = static_cast<float>(k / rope);
          return scale * dim * i * (i + 2) / 12;
        },
        bf16_steps);
    results.compare("dk", dk, zero);
    results.compare("dk_rope", dk_rope, zero);
    results.compare(
        "dv", dv,
        [&](std::int64_t k) {
          float expected_value = 0;
          for (std::int64_t i = k / dim; i < seq; ++i)
            expected_value += 1 / static_cast<float>(i + 1);
          return expected_value;
        },
        bf16_steps);
  });
}
