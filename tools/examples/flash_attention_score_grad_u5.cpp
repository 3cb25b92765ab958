// aclnnFlashAttentionUnpaddingScoreGradV5: a sink and its gradient, in packed sequences.
//
// With query = 0 and a sink of 0, all scores are 0: each of the T keys of a sequence and the sink
// have the probability 1 / (T + 1). With values of 1 and dy = 1 / D, every dP is 1. The output is
// T / (T + 1), the row term, too, and dS is (1 - T / (T + 1)) / (T + 1) = 1 / (T + 1)^2. With keys
// of 1, dq is T / (T + 1)^2. A query adds -T / (T + 1)^2 to dsink, which sums over all sequences:
// T queries of each add -(T / (T + 1))^2.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t first = 1, tokens = 4, dim = 16;
    const std::vector<std::int64_t> shape = {tokens, 1, dim}, statistics = {tokens, 1, 8};
    const auto keys_of = [](std::int64_t token) {
      return static_cast<float>(token < first ? first : tokens - first);
    };
    const auto sum_of = [&](std::int64_t token) { return keys_of(token) + 1; };

    const example::Tensor query(shape, ACL_FLOAT16, 0.0f), key(shape, ACL_FLOAT16, 1.0f),
        value(shape, ACL_FLOAT16, 1.0f), dy(shape, ACL_FLOAT16, 1.0f / dim),
        maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, [&](std::int64_t k) { return sum_of(k / 8); }),
        attention(shape, ACL_FLOAT16,
                  [&](std::int64_t k) { return keys_of(k / dim) / sum_of(k / dim); }),
        sink({1}, ACL_FLOAT, 0.0f), dq(shape, ACL_FLOAT16, -1.0f), dk(shape, ACL_FLOAT16, -1.0f),
        dv(shape, ACL_FLOAT16, -1.0f), dsink({1}, ACL_FLOAT, 1.0f);
    const example::Array ends({first, tokens});
    char layout[] = "TND", order[] = "";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize(
              query.get(), nullptr, key.get(), nullptr, value.get(), dy.get(), nullptr, nullptr,
              nullptr, nullptr, maximum.get(), sum.get(), nullptr, attention.get(), sink.get(),
              nullptr, ends.get(), ends.get(), nullptr, nullptr, 1.0, 1.0, 65536, 65536, 1, layout,
              0, 0, 1, order, dq.get(), nullptr, dk.get(), nullptr, dv.get(), nullptr, dsink.get(),
              size, executor);
        },
        aclnnFlashAttentionUnpaddingScoreGradV5);

    const auto of_token = [&](std::int64_t k) {
      return keys_of(k / dim) / (sum_of(k / dim) * sum_of(k / dim));
    };
    results.compare("dq", dq, of_token);
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare("dv", dv,
                    [&](std::int64_t k) { return keys_of(k / dim) / sum_of(k / dim) / dim; });
    results.compare("dsink", dsink, [&](std::int64_t) { return -0.25f - 0.5625f; });
  });
}
