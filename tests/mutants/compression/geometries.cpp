#include "geometries.hpp"

#include <algorithm>

namespace assay::mutants::compress {
namespace {

struct Extent {
  std::int64_t heads, head_dim, size, stride;
};

spec::CompressionProblem problem_of(std::vector<std::int64_t> lengths, const Extent& extent) {
  spec::CompressionProblem problem{.batch = static_cast<std::int64_t>(lengths.size()),
                                   .heads = extent.heads,
                                   .seq = std::ranges::max(lengths),
                                   .head_dim = extent.head_dim,
                                   .compress_block_size = extent.size,
                                   .compress_stride = extent.stride};
  problem.lengths = std::move(lengths);
  return problem;
}

}  // namespace

std::vector<Geometry> geometries() {
  using enum spec::Striding;
  return {
      // The two forms of the array of lengths in the documentation: with a leading 0, and without
      // it.
      {.problem = problem_of({0, 128, 144}, {2, 32, 32, 16})},
      {.problem = problem_of({128, 144}, {3, 16, 32, 16}), .outputs = padded},
      // Short and empty sequences at the start, in the middle, next to each other and at the end.
      // The second problem has more windows than cores.
      {.problem = problem_of({120, 20, 132}, {2, 16, 32, 16}), .inputs = padded},
      {.problem = problem_of({20, 100, 0, 31, 90, 7, 40, 0}, {3, 32, 32, 16}),
       .inputs = transposed},
      // Lengths just below and above a window and a stride. Some window sizes are not a multiple of
      // the stride.
      {.problem = problem_of({47, 48, 49, 79, 80, 81}, {2, 16, 48, 32}), .outputs = transposed},
      {.problem = problem_of({63, 64, 111, 112, 200}, {3, 48, 64, 48}),
       .inputs = padded,
       .outputs = padded},
      {.problem = problem_of({241, 300}, {2, 16, 128, 112})},
      // In the first problem each token belongs to four windows, in the second to eight. The second
      // problem has one sequence and one head.
      {.problem = problem_of({200, 64}, {2, 16, 64, 16}), .outputs = padded},
      {.problem = problem_of({300}, {1, 64, 128, 16})},
      // A problem with many sums. Two orders of addition give different results in some of them,
      // even after rounding to 16 bits.
      {.problem = problem_of({240}, {32, 16, 128, 16})},
      // The first problem has sequences of equal length, the second a sequence with a single
      // window.
      {.problem = {.batch = 3, .heads = 2, .seq = 70, .head_dim = 16}},
      {.problem = problem_of({32}, {3, 16, 32, 16})},
      // The first problem has 25 windows, one more than the 24 cores. The second has more than
      // 8,192 numbers in a token.
      {.problem = problem_of({416}, {1, 16, 32, 16})},
      {.problem = problem_of({32}, {33, 256, 32, 16})},
  };
}

}  // namespace assay::mutants::compress
