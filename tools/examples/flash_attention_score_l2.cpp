// Calls aclnnFlashAttentionVarLenScoreV2 with a slope per head and positions that do not start at
// 0, as in a sequence that several devices share.
//
// The S keys follow the S queries: key j is S + j - i tokens away from query i. With query = 0 and
// the slope ln 2, the score of key j is -ln 2 * (S + j - i). Key 0 has the largest score, and the
// sum of the exponentials 2^-j is 2 - 2^(1 - S). With value(j) = 2^j, the output is S divided by
// this sum.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 8, dim = 16;
    const std::vector<std::int64_t> shape = {seq, 1, dim};
    const float slope = std::log(2.0f), total = 2 - std::ldexp(1.0f, 1 - seq);

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT,
              [](std::int64_t k) { return std::ldexp(1.0f, static_cast<int>(k / dim)); }),
        slopes({1}, ACL_FLOAT, slope);
    const example::Array lengths({seq}), query_start({100}), key_start({100 + seq});
    const example::Forward out({seq, 1, 8}, shape, ACL_FLOAT);
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize(
              query.get(), key.get(), value.get(), slopes.get(), nullptr, nullptr, nullptr, nullptr,
              lengths.get(), lengths.get(), query_start.get(), key_start.get(), 0.25, 1.0, 65536,
              65536, 1, layout, 0, 0, 2, out.maximum.get(), out.sum.get(), nullptr,
              out.attention.get(), size, executor);
        },
        aclnnFlashAttentionVarLenScoreV2);

    out.compare(
        results, [&](std::int64_t i) { return -slope * static_cast<float>(seq - i); },
        [&](std::int64_t) { return total; },
        [&](std::int64_t) { return static_cast<float>(seq) / total; }, 2e-6f);
  });
}
