// Calls aclnnNsaCompressGrad on two packed sequences of 64 and 48 tokens.
//
// Output gradients, inputs and weights are 1. The gradient of a token is therefore the number of
// windows that contain the token. The gradient of a weight is the number of windows times the head
// size D.
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "runtime.hpp"

int main() {
  return example::run([](example::Runtime& runtime, example::Results& results) {
    constexpr std::int64_t heads = 2, dim = 32, window = 32, stride = 16;
    const std::vector<std::int64_t> starts = {0, 64}, lengths = {64, 48};
    const auto windows = [&](std::size_t b) { return (lengths[b] - window) / stride + 1; };
    const std::int64_t tokens = 112, all_windows = windows(0) + windows(1);

    const example::Tensor output_grad({all_windows, heads, dim}, ACL_FLOAT16, 1.0f),
        input({tokens, heads, dim}, ACL_FLOAT16, 1.0f), weight({window, heads}, ACL_FLOAT16, 1.0f),
        input_grad({tokens, heads, dim}, ACL_FLOAT16, -1.0f),
        weight_grad({window, heads}, ACL_FLOAT16, -1.0f);
    const example::Array ends({64, 112});
    char layout[] = "TND";

    runtime.run(
        [&](std::uint64_t* size, aclOpExecutor** executor) {
          return aclnnNsaCompressGradGetWorkspaceSize(
              output_grad.get(), input.get(), weight.get(), ends.get(), window, stride, 0, layout,
              input_grad.get(), weight_grad.get(), size, executor);
        },
        aclnnNsaCompressGrad);

    results.compare("input_grad", input_grad, [&](std::int64_t k) {
      const std::int64_t token = k / (heads * dim);
      const std::size_t b = token < starts[1] ? 0 : 1;
      const std::int64_t place = token - starts[b];
      float covering = 0;
      for (std::int64_t w = 0; w < windows(b); ++w)
        covering += w * stride <= place && place < w * stride + window ? 1.0f : 0.0f;
      return covering;
    });
    results.compare("weight_grad", weight_grad,
                    [&](std::int64_t) { return static_cast<float>(all_windows * dim); });
  });
}
