// aclnnFlashAttentionVarLenScoreV5: a sink for each head, in packed sequences, without ropes.
//
// With query = 0 all scores are 0. The sinks of the two heads are 0 and -200: the first has the
// same weight as a key, the second has none. A sequence of T keys therefore has the maximum 0 and
// the sums T + 1 and T. With values of 1 the outputs are T / (T + 1) and 1. With "same_as_input",
// the statistics have the memory order of their shape, token by token.
#include "aclnnop/aclnn_flash_attention_score.h"
#include "forward.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t first = 3, tokens = 8, heads = 2, dim = 16;
    const std::vector<std::int64_t> shape = {tokens, heads, dim};
    const auto keys_of = [](std::int64_t row) {
      return static_cast<float>(row / heads < first ? first : tokens - first);
    };
    const auto sum_of = [&](std::int64_t row) {
      return keys_of(row) + (row % heads == 0 ? 1.0f : 0.0f);
    };

    const example::Tensor query(shape, ACL_FLOAT, 0.0f), key(shape, ACL_FLOAT, 1.0f),
        value(shape, ACL_FLOAT, 1.0f),
        sink({heads}, ACL_FLOAT, [](std::int64_t n) { return n == 0 ? 0.0f : -200.0f; });
    const example::Array ends({first, tokens});
    const example::Forward out({tokens, heads, 8}, shape, ACL_FLOAT);
    char layout[] = "TND", order[] = "same_as_input";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize(
              query.get(), nullptr, key.get(), nullptr, value.get(), nullptr, nullptr, nullptr,
              nullptr, sink.get(), nullptr, ends.get(), ends.get(), nullptr, nullptr, 1.0, 1.0,
              65536, 65536, heads, layout, 0, 0, 1, order, out.maximum.get(), out.sum.get(),
              nullptr, out.attention.get(), size, executor);
        },
        aclnnFlashAttentionVarLenScoreV5);

    out.compare(
        results, example::zero, sum_of,
        [&](std::int64_t k) { return keys_of(k / dim) / sum_of(k / dim); }, 1e-6f);
  });
}
