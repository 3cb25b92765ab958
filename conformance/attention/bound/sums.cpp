#include "attention/bound/sums.hpp"

#include <algorithm>
#include <vector>

#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/product.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::attention {

/// Equation E16. The matrices X^T X and X X^T have the same trace, and their squares have the same
/// trace, so the smaller matrix suffices.
double effective_channels(const engine::Rows& rows, std::int64_t first, std::int64_t dim) {
  constexpr std::int64_t most_rows = 512;
  const std::int64_t step = std::max<std::int64_t>(1, rows.rows / most_rows);
  const std::int64_t count = (rows.rows + step - 1) / step;
  std::vector<float> chosen, buffer;
  for (std::int64_t k = 0; k < count; ++k) {
    const float* const row = rows.read(k * step, 1, buffer) + first;
    chosen.insert(chosen.end(), row, row + dim);
  }
  const engine::Rows matrix{chosen.data(), count, dim};
  const bool by_rows = count < dim;
  const std::int64_t width = by_rows ? count : dim, columns = engine::padded(width);
  constexpr engine::Bounds few_bounds = engine::Bounds::by_norm;
  const engine::Panels right =
      by_rows ? engine::transposed_panels_of(matrix, 0, count, columns, {}, few_bounds)
              : engine::panels_of(matrix, 0, count, {}, few_bounds);
  const std::vector<double> left(chosen.begin(), chosen.end());
  std::vector<double> gram(at(width * columns));
  engine::multiply(engine::Product<double>{.a = left.data(),
                                           .a_row = by_rows ? dim : 1,
                                           .a_depth = by_rows ? 1 : dim,
                                           .b = right.value.data(),
                                           .b_depth = right.depth,
                                           .c = gram.data(),
                                           .c_row = columns,
                                           .rows = width,
                                           .columns = columns,
                                           .depth = right.depth});
  double trace = 0;
  for (std::int64_t i = 0; i < width; ++i) trace += gram[at(i * columns + i)];
  double squares = 0;
  for (const double x : gram) squares += x * x;
  return squares > 0 ? trace * trace / squares : 1;
}

}  // namespace assay::conformance::attention
