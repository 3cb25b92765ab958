// Calls aclnnFlashAttentionUnpaddingScoreGradV4 with softmax statistics in the memory order that
// their shape suggests ("same_as_input").
//
// The operator uses the statistics unchanged, so with scores and maxima of 0 the probabilities are
// 1 / sum. Here the sum of token t and head n is (t + 1) * 2^(n + 1), a different number for every
// row. dv of head n is a sum over its T tokens: (1 + 1/2 + ... + 1/T) / 2^(n + 1). Values and
// attention output are 0, so dq = dk = 0.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t tokens = 4, heads = 2, dim = 16;
    const std::vector<std::int64_t> shape = {tokens, heads, dim}, statistics = {tokens, heads, 8};

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, 0.0f), dy(shape, ACL_FLOAT, 1.0f),
        attention(shape, ACL_FLOAT, 0.0f), maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT,
            [](std::int64_t k) {
              const std::int64_t row = k / 8;
              return std::ldexp(static_cast<float>(row / heads + 1),
                                static_cast<int>(row % heads + 1));
            }),
        dq(shape, ACL_FLOAT, -1.0f), dk(shape, ACL_FLOAT, -1.0f), dv(shape, ACL_FLOAT, -1.0f);
    const example::Array lengths({tokens});
    char layout[] = "TND", order[] = "same_as_input";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), nullptr, nullptr, nullptr, nullptr,
              maximum.get(), sum.get(), nullptr, attention.get(), nullptr, lengths.get(),
              lengths.get(), 0.25, 1.0, 65536, 65536, heads, layout, 0, 0, dq.get(), dk.get(),
              dv.get(), nullptr, order, size, executor);
        },
        aclnnFlashAttentionUnpaddingScoreGradV4);

    results.compare("dq", dq, [](std::int64_t) { return 0.0f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare(
        "dv", dv,
        [&](std::int64_t k) {
          float harmonic = 0;
          for (std::int64_t t = 1; t <= tokens; ++t) harmonic += 1 / static_cast<float>(t);
          return std::ldexp(harmonic, -static_cast<int>(k / dim % heads + 1));
        },
        1e-6f);
  });
}
