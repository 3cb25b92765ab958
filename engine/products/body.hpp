#pragma once

#include "products/kernels.hpp"

/// The matrix products, compiled once for each instruction set. All functions have internal
/// linkage, so that the linker cannot mix functions that were compiled for different instruction
/// sets.
namespace assay::engine {
namespace {

/// Computes the rows i .. i + rows - 1 of c, for `vectors` SIMD vectors of columns that begin at
/// `column` of a panel.
template <class Isa, int rows>
void multiply_block(const Product<typename Isa::Number>& p, std::int64_t i, std::int64_t column,
                    const typename Isa::Number* panel) {
  using Vector = typename Isa::Vector;
  using Number = typename Isa::Number;
  Vector sums[rows][Isa::vectors];
  for (auto& row : sums)
    for (auto& sum : row) sum = Isa::broadcast(0);
  const Number* a = p.a + i * p.a_row;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    Vector right[Isa::vectors];
    for (int v = 0; v < Isa::vectors; ++v)
      right[v] = Isa::load(panel + k * panel_columns<Number> + v * Isa::width);
    for (int r = 0; r < rows; ++r) {
      const Vector left = Isa::broadcast(a[r * p.a_row + k * p.a_depth]);
      for (int v = 0; v < Isa::vectors; ++v) sums[r][v] = Isa::fma(left, right[v], sums[r][v]);
    }
  }
  // Two loops without a branch inside, so that the sums stay in registers.
  const auto each_vector = [&](const auto& visit) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Isa::vectors; ++v)
        visit(p.c + (i + r) * p.c_row + column + v * Isa::width, sums[r][v]);
  };
  if (p.add)
    each_vector([](Number* c, Vector sum) { Isa::store(c, Isa::add(Isa::load(c), sum)); });
  else
    each_vector([](Number* c, Vector sum) { Isa::store(c, sum); });
}

template <class Isa>
void multiply_with(const Product<typename Isa::Number>& p) {
  using Number = typename Isa::Number;
  constexpr std::int64_t step = Isa::vectors * Isa::width;
  for (std::int64_t column = 0; column < p.columns; column += step) {
    const std::int64_t first = column / panel_columns<Number>;
    const Number* panel =
        p.b + first * p.b_depth * panel_columns<Number> + column % panel_columns<Number>;
    std::int64_t i = 0;
    for (; i + Isa::rows <= p.rows; i += Isa::rows)
      multiply_block<Isa, Isa::rows>(p, i, column, panel);
    for (; i + 4 <= p.rows; i += 4) multiply_block<Isa, 4>(p, i, column, panel);
    for (; i < p.rows; ++i) multiply_block<Isa, 1>(p, i, column, panel);
  }
}

}  // namespace
}  // namespace assay::engine
