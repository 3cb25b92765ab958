// Calls aclnnFlashAttentionVarLenScore on packed sequences of 1, 3 and 5 tokens.
//
// With query = 0 all n keys of a sequence have equal weight. The maximum of the scores is 0, and
// the sum of the exponentials is n. Let value(j) = j be the position in the sequence; then the
// output is (n - 1) / 2.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t tokens = 9, heads = 2, dim = 16;
    const std::vector<std::int64_t> shape = {tokens, heads, dim};
    const auto length = [](std::int64_t token) { return token < 1 ? 1 : token < 4 ? 3 : 5; };
    const auto start = [](std::int64_t token) { return token < 1 ? 0 : token < 4 ? 1 : 4; };
    const auto position = [&](std::int64_t k) {
      const std::int64_t token = k / (heads * dim);
      return static_cast<float>(token - start(token));
    };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, position),
        value(shape, ACL_FLOAT, position);
    const example::Array lengths({1, 4, 9});
    const example::Forward out({tokens, heads, 8}, shape, ACL_FLOAT);
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
              query.get(), key.get(), value.get(), nullptr, nullptr, nullptr, nullptr, nullptr,
              lengths.get(), lengths.get(), 0.75, 1.0, 65536, 65536, heads, layout, 0, 0,
              out.maximum.get(), out.sum.get(), nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionVarLenScore);

    // The softmax statistics of one sequence follow those of the previous one. Within a sequence,
    // the rows of the first head stand before those of the second. A sequence thus has (length *
    // heads) rows, so row r belongs to the same sequence as token r / heads.
    out.compare(
        results, example::zero,
        [&](std::int64_t row) { return static_cast<float>(length(row / heads)); },
        [&](std::int64_t k) { return static_cast<float>(length(k / (heads * dim)) - 1) / 2; },
        1e-6f);
  });
}
