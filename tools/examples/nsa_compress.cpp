// Calls aclnnNsaCompress on two packed sequences of 64 and 48 tokens.
//
// A window of 32 tokens begins at every 16th token of a sequence. All weights are 1, so a row of
// the output is the sum of its window. The input is the position in the sequence, so this sum is 32
// * start + 496.
#include "aclnnop/aclnn_nsa_compress.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t heads = 2, dim = 32, window = 32, stride = 16, first_length = 64,
                           tokens = 112, first_windows = 3, windows = 5;

    const example::Tensor input(
        {tokens, heads, dim}, ACL_FLOAT16,
        [](std::int64_t k) { return static_cast<float>(k / (heads * dim) % first_length); }),
        weight({window, heads}, ACL_FLOAT16, 1.0f),
        output({windows, heads, dim}, ACL_FLOAT16, -1.0f);
    const example::Array ends({first_length, tokens});
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnNsaCompressGetWorkspaceSize(input.get(), weight.get(), ends.get(), layout,
                                                  window, stride, 0, output.get(), size, executor);
        },
        aclnnNsaCompress);

    results.compare("output", output, [](std::int64_t k) {
      const std::int64_t row = k / (heads * dim);
      const std::int64_t start = (row < first_windows ? row : row - first_windows) * stride;
      return static_cast<float>(window * start + window * (window - 1) / 2);
    });
  });
}
