// Calls aclnnFlashAttentionScore on a padded batch with a causal mask.
//
// With query = 0 all scores are 0, and query i gives equal weight to the keys 0 ... i. The maximum
// of its scores is therefore 0, and the sum of the exponentials is i + 1. With value(j) = j, the
// output is the mean i / 2.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t batch = 2, heads = 2, seq = 4, dim = 16;
    const std::vector<std::int64_t> shape = {batch, heads, seq, dim};
    const auto position = [](std::int64_t k) { return static_cast<float>(k / dim % seq); };

    const example::Tensor query(shape, ACL_FLOAT16, 0.0f), key(shape, ACL_FLOAT16, position),
        value(shape, ACL_FLOAT16, position), mask = example::compressed_mask();
    const example::Forward out({batch, heads, seq, 8}, shape, ACL_FLOAT16);
    char layout[] = "BNSD";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionScoreGetWorkspaceSize(
              query.get(), key.get(), value.get(), nullptr, nullptr, nullptr, mask.get(), nullptr,
              0.25, 1.0, 65536, 65536, heads, layout, 0, 2, out.maximum.get(), out.sum.get(),
              nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionScore);

    // The operator rounds P to fp16 before the products, and then rounds the results once more.
    constexpr float fp16_steps = 0x1p-10f;
    out.compare(
        results, example::zero, [](std::int64_t row) { return static_cast<float>(row % seq + 1); },
        [&](std::int64_t k) { return position(k) / 2; }, fp16_steps);
  });
}
