#include "operands/products.hpp"

namespace assay::optimized {
namespace {

struct Strides {
  std::int64_t row, depth;
};

void multiply(const tile::Kernels& kernels, const Factors& f, const Strides& left,
              const Tile& result, tile::Sum sum) {
  kernels.multiply({.a = f.left.at,
                    .a_row = left.row,
                    .a_depth = left.depth,
                    .b = f.right.at,
                    .b_row = f.right.stride,
                    .c = result.at,
                    .c_row = result.stride,
                    .rows = f.rows,
                    .columns = f.columns,
                    .depth = f.depth,
                    .sum = sum,
                    .asked = f.asked});
}

}  // namespace

void multiply(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
              tile::Sum sum) {
  multiply(kernels, factors, {.row = factors.left.stride, .depth = 1}, result, sum);
}

void multiply_transposed(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
                         tile::Sum sum) {
  multiply(kernels, factors, {.row = 1, .depth = factors.left.stride}, result, sum);
}

}  // namespace assay::optimized
