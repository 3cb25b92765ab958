// Calls aclnnFlashAttentionScoreGrad on a padded batch.
//
// With query = 0 all S keys of a head have equal weight: P = 1 / S. Let dy = 1, value(j) = key(j) =
// j, and let the attention output be the mean of value. With the head size D, dS is then D / S * (j
// - mean of j), and dq = scale * D * (variance of j) = scale * D * (S^2 - 1) / 12. Because query is
// 0, dk = 0. Because there are as many queries as keys, dv = 1.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t batch = 2, heads = 2, seq = 4, dim = 16;
    constexpr float scale = 0.25f;
    const std::vector<std::int64_t> shape = {batch, heads, seq, dim};
    const std::vector<std::int64_t> statistics = {batch, heads, seq, 8};
    const auto position = [](std::int64_t k) { return static_cast<float>(k / dim % seq); };

    const example::Tensor query(shape, ACL_FLOAT16, 0.0f), key(shape, ACL_FLOAT16, position),
        value(shape, ACL_FLOAT16, position), dy(shape, ACL_FLOAT16, 1.0f),
        attention(shape, ACL_FLOAT16, (seq - 1) / 2.0f), maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, static_cast<float>(seq)), dq(shape, ACL_FLOAT16, -1.0f),
        dk(shape, ACL_FLOAT16, -1.0f), dv(shape, ACL_FLOAT16, -1.0f);
    char layout[] = "BNSD";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreGradGetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), nullptr, nullptr, nullptr, nullptr,
              maximum.get(), sum.get(), nullptr, attention.get(), nullptr, scale, 1.0, 65536, 65536,
              heads, layout, 0, 0, dq.get(), dk.get(), dv.get(), nullptr, size, executor);
        },
        aclnnFlashAttentionScoreGrad);

    results.compare("dq", dq, [&](std::int64_t) { return scale * dim * (seq * seq - 1) / 12.0f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare("dv", dv, [](std::int64_t) { return 1.0f; });
  });
}
