// aclnnFlashAttentionScoreV3: a sink, one more key whose value is zero.
//
// With query = 0 all scores are 0, and a sink of 0 has the same weight as a key. Causally, query i
// has i + 1 keys and the sink: the maximum is 0 and the sum i + 2. With value(j) = j + 1 the output
// is (1 + 2 + ... + (i + 1)) / (i + 2) = (i + 1) / 2.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 4, dim = 16;
    const std::vector<std::int64_t> shape = {1, 1, seq, dim};  // BNSD
    const auto number = [](std::int64_t k) { return static_cast<float>(k / dim + 1); };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, number), mask = example::compressed_mask(),
                                         sink({1}, ACL_FLOAT, 0.0f);
    const example::Forward out({1, 1, seq, 8}, shape, ACL_FLOAT);
    char layout[] = "BNSD";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreV3GetWorkspaceSize(
              query.get(), key.get(), value.get(), nullptr, nullptr, nullptr, mask.get(),
              sink.get(), nullptr, nullptr, nullptr, 1.0, 1.0, 65536, 65536, 1, layout, 0, 2, 1,
              out.maximum.get(), out.sum.get(), nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionScoreV3);

    out.compare(
        results, example::zero, [](std::int64_t i) { return static_cast<float>(i + 2); },
        [&](std::int64_t k) { return number(k) / 2; }, 1e-6f);
  });
}
