// Calls aclnnFlashAttentionScoreGradV2 with the position bias of pseType 2: minus the slope of the
// head times the distance between query and key.
//
// With query = 0 and the slope ln 2, the score of query i and key j is -ln 2 * |i - j|. The maximum
// of the scores is 0. The sum of the exponentials 2^-|i - j| over the S keys is 3 - 2^-i - 2^(i + 1
// - S). All values are equal, so the output does not depend on P, and dq = dk = 0. dv(j) is the sum
// of P(i, j) over all queries i.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 8, dim = 16;
    const std::vector<std::int64_t> shape = {1, seq, 1, dim};  // BSND
    const std::vector<std::int64_t> statistics = {1, 1, seq, 8};
    const auto power = [](std::int64_t exponent) {
      return std::ldexp(1.0f, static_cast<int>(exponent));
    };
    const auto total = [&](std::int64_t i) { return 3 - power(-i) - power(i + 1 - seq); };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, 1.0f), dy(shape, ACL_FLOAT, 1.0f),
        attention(shape, ACL_FLOAT, 1.0f), slopes({1}, ACL_FLOAT, std::log(2.0f)),
        maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, [&](std::int64_t k) { return total(k / 8); }),
        dq(shape, ACL_FLOAT, -1.0f), dk(shape, ACL_FLOAT, -1.0f), dv(shape, ACL_FLOAT, -1.0f);
    const example::Array query_start({0}), key_start({0});
    char layout[] = "BSND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreGradV2GetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), slopes.get(), nullptr, nullptr,
              nullptr, maximum.get(), sum.get(), nullptr, attention.get(), nullptr,
              query_start.get(), key_start.get(), 0.25, 1.0, 65536, 65536, 1, layout, 0, 0, 2,
              dq.get(), dk.get(), dv.get(), nullptr, size, executor);
        },
        aclnnFlashAttentionScoreGradV2);

    results.compare("dq", dq, [](std::int64_t) { return 0.0f; });
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare(
        "dv", dv,
        [&](std::int64_t k) {
          float expected_value = 0;
          for (std::int64_t i = 0; i < seq; ++i)
            expected_value += power(-std::abs(i - k / dim)) / total(i);
          return expected_value;
        },
        1e-6f);
  });
}
