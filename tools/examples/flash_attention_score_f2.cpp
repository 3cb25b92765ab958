// Calls aclnnFlashAttentionScoreV2 with the position bias of pseType 2: minus the slope of the head
// times the distance between query and key.
//
// With query = 0 and the slope ln 2, the score of query i and key j is -ln 2 * |i - j|. The maximum
// of the scores is 0. The sum of the exponentials 2^-|i - j| over the S keys is 3 - 2^-i - 2^(i + 1
// - S). With value(j) = 2^j, the output is the sum of 2^(j - |i - j|), divided by the sum of the
// exponentials.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t seq = 8, dim = 16;
    const std::vector<std::int64_t> shape = {1, seq, 1, dim};  // BSND
    const auto power = [](std::int64_t exponent) {
      return std::ldexp(1.0f, static_cast<int>(exponent));
    };
    const auto total = [&](std::int64_t i) { return 3 - power(-i) - power(i + 1 - seq); };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, [&](std::int64_t k) { return power(k / dim); }),
        slopes({1}, ACL_FLOAT, std::log(2.0f));
    const example::Array query_start({0}), key_start({0});
    const example::Forward out({1, 1, seq, 8}, shape, ACL_FLOAT);
    char layout[] = "BSND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreV2GetWorkspaceSize(
              query.get(), key.get(), value.get(), slopes.get(), nullptr, nullptr, nullptr, nullptr,
              query_start.get(), key_start.get(), 0.25, 1.0, 65536, 65536, 1, layout, 0, 0, 2,
              out.maximum.get(), out.sum.get(), nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionScoreV2);

    out.compare(
        results, example::zero, total,
        [&](std::int64_t k) {
          const std::int64_t i = k / dim;
          float sum = 0;
          for (std::int64_t j = 0; j < seq; ++j) sum += power(j - std::abs(i - j));
          return sum / total(i);
        },
        2e-6f);
  });
}
