// Calls aclnnFlashAttentionScoreGradV3 with a sink (an additional score per head, without key and
// value) and its gradient.
//
// With query = 0 and a sink of 0, the three keys and the sink have the score 0, and therefore the
// probability 1/4 each. The maximum is 0, and the sum of the exponentials, which includes the sink,
// is 4. With the values 1, 2, 3 and dy = 2 / D, dP is 2, 4, 6. The output is (1 + 2 + 3) / 4, so
// sum(dy * output) is 3 and dS = (dP - 3) / 4 is -1/4, 1/4, 3/4. All keys are 1, so dq is the sum
// of dS. dsink is -1/4 (2 + 4 + 6) / 4.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t keys = 3, dim = 16;
    const std::vector<std::int64_t> one = {1, 1, 1, dim}, all = {1, 1, keys, dim};  // BNSD
    const std::vector<std::int64_t> statistics = {1, 1, 1, 8};
    const auto value_of = [](std::int64_t k) { return static_cast<float>(k / dim + 1); };

    const example::Tensor query(one, ACL_FLOAT16, 0.0f), key(all, ACL_FLOAT16, 1.0f),
        value(all, ACL_FLOAT16, value_of), dy(one, ACL_FLOAT16, 2.0f / dim),
        maximum(statistics, ACL_FLOAT, 0.0f), sum(statistics, ACL_FLOAT, 4.0f),
        attention(one, ACL_FLOAT16, 1.5f), sink({1}, ACL_FLOAT, 0.0f), dq(one, ACL_FLOAT16, -1.0f),
        dk(all, ACL_FLOAT16, -1.0f), dv(all, ACL_FLOAT16, -1.0f), dsink({1}, ACL_FLOAT, 1.0f);
    char layout[] = "BNSD";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreGradV3GetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), nullptr, nullptr, nullptr, nullptr,
              maximum.get(), sum.get(), nullptr, attention.get(), sink.get(), nullptr, nullptr,
              nullptr, 1.0, 1.0, 65536, 65536, 1, layout, 0, 0, 1, dq.get(), dk.get(), dv.get(),
              nullptr, dsink.get(), size, executor);
        },
        aclnnFlashAttentionScoreGradV3);

    results.compare("dq", dq, [](std::int64_t) { return 0.75f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare("dv", dv, [](std::int64_t) { return 2.0f / dim / 4; });
    results.compare("dsink", dsink, [](std::int64_t) { return -0.75f; });
  });
}
