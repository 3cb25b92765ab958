// Calls aclnnFlashAttentionUnpaddingScoreGradV2 with a slope per head and positions that do not
// start at 0, as in a sequence that several devices share.
//
// The S keys follow the S queries: key j is S + j - i tokens away from query i. With query = 0 and
// the slope ln 2, the score of key j is -ln 2 * (S + j - i). Key 0 has the largest score, and P =
// 2^-j / (2 - 2^(1 - S)) for every query. All values are equal, so dq = dk = 0. dv(j) = S * P(j).
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 8, dim = 16;
    const std::vector<std::int64_t> shape = {seq, 1, dim}, statistics = {seq, 1, 8};
    const float slope = std::log(2.0f), total = 2 - std::ldexp(1.0f, 1 - seq);

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, 1.0f), dy(shape, ACL_FLOAT, 1.0f),
        attention(shape, ACL_FLOAT, 1.0f), slopes({1}, ACL_FLOAT, slope),
        maximum(statistics, ACL_FLOAT,
                [&](std::int64_t k) { return -slope * static_cast<float>(seq - k / 8); }),
        sum(statistics, ACL_FLOAT, total), dq(shape, ACL_FLOAT, -1.0f), dk(shape, ACL_FLOAT, -1.0f),
        dv(shape, ACL_FLOAT, -1.0f);
    const example::Array lengths({seq}), query_start({100}), key_start({100 + seq});
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), slopes.get(), nullptr, nullptr,
              nullptr, maximum.get(), sum.get(), nullptr, attention.get(), nullptr, lengths.get(),
              lengths.get(), query_start.get(), key_start.get(), 0.25, 1.0, 65536, 65536, 1, layout,
              0, 0, 2, dq.get(), dk.get(), dv.get(), nullptr, size, executor);
        },
        aclnnFlashAttentionUnpaddingScoreGradV2);

    results.compare("dq", dq, [](std::int64_t) { return 0.0f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare(
        "dv", dv,
        [&](std::int64_t k) {
          return static_cast<float>(seq) * std::ldexp(1.0f, -static_cast<int>(k / dim)) / total;
        },
        1e-5f);
  });
}
