#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// Instructions of which products have kernels. All give the same bits.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

/// Those that this machine executes, the fastest first.
std::vector<Instructions> available_instructions();

/// The first of them.
Instructions fastest_instructions();

/// Right operands lie in panels of so many columns: panel, then row, then column.
template <class T>
inline constexpr std::int64_t panel_columns = 128 / static_cast<std::int64_t>(sizeof(T));

/// c(i, j) = or += the chain over k, ascending, of fma(a(i, k), b(k, j), .), which begins at 0.
template <class T>
struct Product {
  const T* a = nullptr;
  std::int64_t a_row = 0, a_depth = 1;  ///< strides of a
  const T* b = nullptr;                 ///< in panels, each of `b_depth` rows
  std::int64_t b_depth = 0;
  T* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;  ///< columns: a multiple of panel_columns
  bool add = false;
};

/// Errors: std::invalid_argument for instructions that this machine lacks.
void multiply(const Product<double>& product, Instructions instructions = Instructions::fastest);
void multiply(const Product<float>& product, Instructions instructions = Instructions::fastest);

}  // namespace assay::engine
