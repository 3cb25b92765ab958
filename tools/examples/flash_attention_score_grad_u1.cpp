// Calls aclnnFlashAttentionUnpaddingScoreGrad on packed sequences of 1, 3 and 5 tokens.
//
// With query = 0 all n keys of a sequence have equal weight: P = 1 / n. Let dy = 1, let value(j) =
// key(j) = j be the position in the sequence, and let the attention output be the mean of j. With
// the head size D, dq is then scale * D * (n^2 - 1) / 12. dk = 0 and dv = 1.
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t tokens = 9, heads = 2, dim = 16;
    constexpr float scale = 0.75f;
    const std::vector<std::int64_t> ends = {1, 4, 9};
    const std::vector<std::int64_t> shape = {tokens, heads, dim}, statistics = {tokens, heads, 8};
    const auto sequence = [&](std::int64_t token) { return token < 1 ? 0 : token < 4 ? 1 : 2; };
    const auto length = [&](std::int64_t token) {
      return 2.0f * static_cast<float>(sequence(token)) + 1;
    };
    const auto start = [&](std::int64_t token) { return token < 1 ? 0 : token < 4 ? 1 : 4; };
    const auto position = [&](std::int64_t k) {
      const std::int64_t token = k / (heads * dim);
      return static_cast<float>(token - start(token));
    };
    const auto mean = [&](std::int64_t k) { return (length(k / (heads * dim)) - 1) / 2; };
    // The softmax statistics of one sequence follow those of the previous one. Within a sequence,
    // the rows of the first head stand before those of the second. A sequence thus has (length *
    // heads) rows, so row r belongs to the same sequence as token r / heads.
    const auto total = [&](std::int64_t k) { return length(k / 8 / heads); };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, position),
        value(shape, ACL_FLOAT, position), dy(shape, ACL_FLOAT, 1.0f),
        attention(shape, ACL_FLOAT, mean), maximum(statistics, ACL_FLOAT, 0.0f),
        sum(statistics, ACL_FLOAT, total), dq(shape, ACL_FLOAT, -1.0f), dk(shape, ACL_FLOAT, -1.0f),
        dv(shape, ACL_FLOAT, -1.0f);
    const example::Array lengths(ends);
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
              query.get(), key.get(), value.get(), dy.get(), nullptr, nullptr, nullptr, nullptr,
              maximum.get(), sum.get(), nullptr, attention.get(), nullptr, lengths.get(),
              lengths.get(), scale, 1.0, 65536, 65536, heads, layout, 0, 0, dq.get(), dk.get(),
              dv.get(), nullptr, size, executor);
        },
        aclnnFlashAttentionUnpaddingScoreGrad);

    results.compare(
        "dq", dq,
        [&](std::int64_t k) {
          const float n = length(k / (heads * dim));
          return scale * dim * (n * n - 1) / 12;
        },
        1e-6f);
    results.compare("dk", dk, [](std::int64_t) { return 0.0f; });
    results.compare(
        "dv", dv, [](std::int64_t) { return 1.0f; }, 1e-6f);
  });
}
